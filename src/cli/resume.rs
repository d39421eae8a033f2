//! The lines of a sweep on their way into a file, so that they survive an interruption.
//!
//! They are collected in `OUT.part`; when all are there it becomes `OUT`. So `OUT` is whole or
//! not there, and what an interrupted sweep has done can be gone on with.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::output::{Output, cannot_write};
use super::source::cannot_read;

/// Where the lines go.
pub(super) struct Lines {
    to: Place,
    header: Option<String>,
    /// The lines an earlier sweep has left, without the header.
    done: Vec<String>,
    /// Bytes of them that are kept.
    kept: u64,
}

enum Place {
    /// Standard output, a pipe, a device.
    Stream(Output),
    /// A file to be.
    File {
        place: PathBuf,
        /// Where earlier lines are, if there are any.
        earlier: Option<PathBuf>,
        part: PathBuf,
        out: Option<BufWriter<File>>,
    },
}

impl Lines {
    /// Prepares to write to `path`; with `resume` reads what is there already.
    pub fn open(path: Option<&Path>, resume: bool, header: Option<&str>) -> Result<Lines, Failure> {
        let header = header.map(str::to_owned);
        let Some(path) = path.filter(|p| p.as_os_str() != "-") else {
            let to = Place::Stream(Output::stdout());
            return Lines::new(to, header, resume);
        };
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let there = fs::metadata(&place).ok();
        if there.as_ref().is_some_and(|m| !m.is_file()) {
            let to = Place::Stream(Output::open(Some(&place))?);
            return Lines::new(to, header, resume);
        }
        let mut part = place.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let earlier = resume
            .then(|| [&part, &place].into_iter().find(|p| p.is_file()).cloned())
            .flatten();
        let to = Place::File {
            place,
            earlier,
            part,
            out: None,
        };
        let mut lines = Lines::new(to, header, false)?;
        lines.read_earlier()?;
        Ok(lines)
    }

    fn new(to: Place, header: Option<String>, resume: bool) -> Result<Lines, Failure> {
        if resume {
            let message = "--resume needs a plain file to go on with".to_owned();
            return Err(Failure::Usage(message));
        }
        Ok(Lines {
            to,
            header,
            done: Vec::new(),
            kept: 0,
        })
    }

    fn read_earlier(&mut self) -> Result<(), Failure> {
        let Place::File {
            earlier: Some(earlier),
            ..
        } = &self.to
        else {
            return Ok(());
        };
        let name = earlier.display().to_string();
        let text = fs::read_to_string(earlier).map_err(|e| cannot_read(&name, &e))?;
        // A line without its end was cut off by the interruption, and is made again.
        let whole = text.rfind('\n').map_or("", |at| &text[..=at]);
        let mut lines = whole.lines().map(str::to_owned);
        if let Some(header) = &self.header
            && let Some(first) = lines.next()
            && first != *header
        {
            let message = format!("{name}: line 1 is of another sweep; nothing was changed");
            return Err(Failure::Could(message));
        }
        self.done = lines.collect();
        self.kept = whole.len() as u64;
        Ok(())
    }

    /// The lines that are there already.
    pub fn done(&self) -> &[String] {
        &self.done
    }

    /// The failure to tell when line `n` of those is not what this sweep would have written.
    pub fn of_another_sweep(&self, n: usize) -> Failure {
        let name = match &self.to {
            Place::File {
                earlier: Some(earlier),
                ..
            } => earlier.display().to_string(),
            _ => "the output".to_owned(),
        };
        let line = n + 1 + usize::from(self.header.is_some());
        Failure::Could(format!(
            "{name}: line {line} is of another sweep; nothing was changed"
        ))
    }

    /// Opens the output behind what is there already.
    pub fn go_on(&mut self) -> Result<(), Failure> {
        if let Place::File {
            earlier, part, out, ..
        } = &mut self.to
        {
            let cannot = |e: io::Error| cannot_write(part, &e);
            if let Some(earlier) = earlier
                && earlier != part
            {
                fs::rename(earlier, &part).map_err(cannot)?;
            }
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&part)
                .map_err(cannot)?;
            file.set_len(self.kept).map_err(cannot)?;
            file.seek(SeekFrom::End(0)).map_err(cannot)?;
            *out = Some(BufWriter::new(file));
        }
        self.done = Vec::new();
        if self.kept == 0
            && let Some(header) = self.header.take()
        {
            self.put(&header)?;
        }
        Ok(())
    }

    /// Writes a line.
    pub fn put(&mut self, line: &str) -> Result<(), Failure> {
        let out: &mut dyn Write = match &mut self.to {
            Place::Stream(out) => out,
            Place::File { out: Some(out), .. } => out,
            Place::File { .. } => return Ok(()),
        };
        writeln!(out, "{line}")?;
        Ok(())
    }

    /// Hands over what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Place::Stream(out) => out.flush(),
            Place::File { out: Some(out), .. } => out.flush(),
            Place::File { .. } => Ok(()),
        }
    }

    /// All lines are there: the file gets its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self.to {
            Place::Stream(out) => out.finish(),
            Place::File { place, part, .. } => {
                fs::rename(&part, &place).map_err(|e| cannot_write(&place, &e))
            }
        }
    }
}
