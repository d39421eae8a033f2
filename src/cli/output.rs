//! Where the output goes: standard output, or a file that is whole or not there.
//!
//! A file is written beside its place under another name and moved there at the end. What is not
//! a plain file (`/dev/null`, a pipe) is written to directly.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::failure::{Failure, reason};

/// An output. A file only gets its name by [`Output::finish`].
pub(super) struct Output {
    out: BufWriter<Box<dyn Write>>,
    /// The file under its interim name, and the name it shall have.
    pending: Option<(PathBuf, PathBuf)>,
    colour: bool,
}

impl Output {
    pub fn stdout() -> Output {
        let colour = io::stdout().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            && std::env::var_os("TERM").is_none_or(|v| v != "dumb");
        Output {
            out: BufWriter::new(Box::new(io::stdout())),
            pending: None,
            colour,
        }
    }

    /// The file of that name, or standard output.
    pub fn open(path: Option<&Path>) -> Result<Output, Failure> {
        match path {
            Some(path) if path.as_os_str() != "-" => Output::file(path),
            _ => Ok(Output::stdout()),
        }
    }

    fn file(path: &Path) -> Result<Output, Failure> {
        let cannot = |e: io::Error| cannot_write(path, &e);
        // Through a link: the file itself is replaced, the link stays.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let there = fs::metadata(&place).ok();
        if there.as_ref().is_some_and(fs::Metadata::is_dir) {
            let message = format!("{}: cannot write: it is a directory", path.display());
            return Err(Failure::Could(message));
        }
        if there.as_ref().is_some_and(|m| !m.is_file()) {
            let file = OpenOptions::new()
                .write(true)
                .open(&place)
                .map_err(cannot)?;
            return Ok(Output::of(file, None));
        }
        let (file, interim) = interim_beside(&place).map_err(cannot)?;
        let output = Output::of(file, Some((interim.clone(), place)));
        if let Some(there) = there {
            // The owner's choice of who may read it outlives the replacement.
            fs::set_permissions(&interim, there.permissions()).map_err(cannot)?;
        }
        Ok(output)
    }

    fn of(file: File, pending: Option<(PathBuf, PathBuf)>) -> Output {
        Output {
            out: BufWriter::with_capacity(1 << 16, Box::new(file)),
            pending,
            colour: false,
        }
    }

    /// Whether colours are welcome.
    pub fn colour(&self) -> bool {
        self.colour
    }

    /// Everything is written: the file gets its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.out.flush()?;
        if let Some((interim, place)) = self.pending.take() {
            fs::rename(&interim, &place).map_err(|e| {
                let _ = fs::remove_file(&interim);
                cannot_write(&place, &e)
            })?;
        }
        Ok(())
    }
}

impl Drop for Output {
    /// Without [`Output::finish`] nothing stays.
    fn drop(&mut self) {
        if let Some((interim, _)) = self.pending.take() {
            let _ = fs::remove_file(interim);
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A new file in the same directory.
fn interim_beside(place: &Path) -> io::Result<(File, PathBuf)> {
    let name = place
        .file_name()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let mut n = 0;
    loop {
        let mut interim = std::ffi::OsString::from(".");
        interim.push(name);
        interim.push(format!(".{}-{n}.part", std::process::id()));
        let interim = place.with_file_name(interim);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&interim)
        {
            Ok(file) => return Ok((file, interim)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && n < 100 => n += 1,
            Err(e) => return Err(e),
        }
    }
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let message = format!("{}: cannot write: {}", path.display(), reason(error));
    Failure::Could(message)
}
