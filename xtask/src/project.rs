//! Where the project and its build products lie, and how other programs are run.
use anyhow::{Context, Result, bail, ensure};
use std::{
    cell::RefCell,
    env,
    ffi::OsStr,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// The folders every chore works in.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder of the workspace's Cargo.toml.
    pub root: PathBuf,
    /// Cargo's target folder, wherever the user's configuration puts it.
    pub target: PathBuf,
}

impl Project {
    /// Asks cargo, since environment and configuration files both move the target folder.
    pub fn find() -> Result<Self> {
        // The run-time variable first: a target folder shared by two checkouts holds one xtask only.
        let here = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let text = output(cargo().current_dir(here).args([
            "metadata",
            "--no-deps",
            "--format-version=1",
            "--offline",
        ]))?;
        let metadata: serde_json::Value =
            serde_json::from_str(&text).context("cargo metadata did not print JSON")?;
        let folder = |key: &str| match metadata[key].as_str() {
            Some(path) => Ok(PathBuf::from(path)),
            None => bail!("cargo metadata names no {key}"),
        };
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
        })
    }

    /// What `build` makes and `serve` serves.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// `relative` as seen from the root, for messages.
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

/// Set by Ctrl-C or a request to terminate: a running command is ended.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C or a request to terminate came.
pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

thread_local! {
    /// Where this thread's commands print, and it itself; nowhere else than usual if none.
    static ASIDE: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// From now on this thread and the commands it runs print into `file`, so that two threads' output is not mixed.
pub fn print_aside(file: File) {
    ASIDE.set(Some(file));
}

fn aside() -> Option<File> {
    ASIDE.with_borrow(|file| file.as_ref().and_then(|file| file.try_clone().ok()))
}

/// Tells a line of our own, where the commands of this thread print.
pub fn tell(line: &str) {
    match aside() {
        // What cannot be told is no reason to end what it is told of.
        Some(mut file) => drop(writeln!(file, "{line}")),
        None => eprintln!("{line}"),
    }
}

/// Between two looks at a running command.
const POLL: Duration = Duration::from_millis(20);

/// The cargo that runs us, so that a toolchain chosen by `+name` stays chosen.
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// How long a stopped command may take to put its things away.
const GRACE: Duration = Duration::from_secs(5);

/// How long output may lag behind the end of the command that made it.
const LAG: Duration = Duration::from_secs(1);

/// Runs `cmd` to its end with its output shown, and prints the command first.
pub fn run(cmd: &mut Command) -> Result<()> {
    let name = named(cmd);
    if let Some(file) = aside() {
        cmd.stdout(file.try_clone()?).stderr(file);
    }
    let mut child = start(cmd)?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stopped() {
            end(&mut child);
            bail!("{name} was stopped");
        }
        thread::sleep(POLL);
    };
    ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}

/// [`run`] that also gives all that is printed to `told`, output and errors in the order they came.
pub fn tee(cmd: &mut Command, mut told: impl FnMut(&[u8])) -> Result<()> {
    let name = named(cmd);
    let (mut reader, writer) = io::pipe()?;
    cmd.stdout(writer.try_clone()?).stderr(writer);
    let child = start(cmd);
    // The command holds the pipe's writing ends, and would hold them open.
    cmd.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let mut child = child?;
    let (sender, chunks) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 1 << 13];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut ended = None;
    loop {
        match chunks.recv_timeout(POLL) {
            Ok(chunk) => {
                // Whoever read our output may be gone; what it tells is wanted all the same.
                let _ = match aside() {
                    Some(mut file) => file.write_all(&chunk),
                    None => {
                        let mut out = io::stdout().lock();
                        out.write_all(&chunk).and_then(|()| out.flush())
                    }
                };
                told(&chunk);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            // A grandchild that stays behind holds the pipe open for as long as it likes.
            Err(RecvTimeoutError::Timeout) => {
                if ended.is_some_and(|at: Instant| at.elapsed() > LAG) {
                    break;
                }
            }
        }
        if ended.is_none() {
            if stopped() {
                end(&mut child);
            }
            ended = child.try_wait()?.map(|_| Instant::now());
        }
    }
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stopped() {
            end(&mut child);
        }
        thread::sleep(POLL);
    };
    ensure!(!stopped(), "{name} was stopped");
    ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}

fn named(cmd: &Command) -> String {
    short(&cmd.get_program().to_string_lossy())
}

/// Starts `cmd` in a process group of its own: what it starts in turn can be ended with it.
fn start(cmd: &mut Command) -> Result<Child> {
    tell(&format!("+ {}", shown(cmd)));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(cmd, 0);
    cmd.stdin(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", named(cmd)))
}

/// Ends a command and what it started: asks first, so that a browser is closed and a report written.
fn end(child: &mut Child) {
    if signal(child.id(), "INT") {
        let asked = Instant::now();
        while asked.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(POLL);
        }
        signal(child.id(), "KILL");
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Sends a signal to the group of `id`; false where that cannot be done.
fn signal(id: u32, name: &str) -> bool {
    // The shell's own `kill`: the program of that name is not on every machine.
    cfg!(unix)
        && Command::new("sh")
            .arg("-c")
            .arg(format!("kill -{name} -{id}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

/// Runs `cmd` silently and returns what it printed; its errors are part of ours.
pub fn output(cmd: &mut Command) -> Result<String> {
    let name = cmd.get_program().to_string_lossy().into_owned();
    let out = cmd
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}"))?;
    ensure!(
        out.status.success(),
        "{} ended with {}: {}",
        short(&name),
        out.status,
        String::from_utf8_lossy(&out.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn short(program: &str) -> String {
    Path::new(program)
        .file_name()
        .unwrap_or(OsStr::new(program))
        .to_string_lossy()
        .into_owned()
}

/// The command as one would type it; arguments with blanks in quotes.
fn shown(cmd: &Command) -> String {
    let mut line = short(&cmd.get_program().to_string_lossy());
    for arg in cmd.get_args() {
        let arg = arg.to_string_lossy();
        line.push(' ');
        if arg.is_empty() || arg.contains([' ', '"', '\'']) {
            line.push_str(&format!("{arg:?}"));
        } else {
            line.push_str(&arg);
        }
    }
    line
}

/// The first of `names` found in the folders of `path` (a PATH variable's value).
pub fn in_path(path: &OsStr, names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| {
        env::split_paths(path)
            .map(|dir| dir.join(format!("{name}{}", env::consts::EXE_SUFFIX)))
            .find(|file| file.is_file())
    })
}

/// [`in_path`] with this process's PATH.
pub fn on_path(names: &[&str]) -> Option<PathBuf> {
    in_path(&env::var_os("PATH")?, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_quotes_only_what_needs_it() {
        let mut cmd = Command::new("/usr/bin/npm");
        cmd.args(["ci", "--no fund", ""]);
        assert_eq!(shown(&cmd), "npm ci \"--no fund\" \"\"");
    }

    #[test]
    fn a_program_is_searched_in_the_order_of_names_first() {
        let dir = env::temp_dir().join(format!("xtask-path-{}", std::process::id()));
        let (a, b) = (dir.join("a"), dir.join("b"));
        std::fs::create_dir_all(&a).unwrap();
        std::fs::create_dir_all(&b).unwrap();
        let exe = |name: &str| format!("{name}{}", env::consts::EXE_SUFFIX);
        std::fs::write(a.join(exe("chrome")), "").unwrap();
        std::fs::write(b.join(exe("chromium")), "").unwrap();
        let path = env::join_paths([&a, &b]).unwrap();
        assert_eq!(
            in_path(&path, &["chromium", "chrome"]),
            Some(b.join(exe("chromium")))
        );
        assert_eq!(in_path(&path, &["firefox"]), None);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
