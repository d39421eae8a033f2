//! Notices that files changed, by looking at their times and sizes twice a second.
//!
//! Looking costs a few milliseconds for the hundred files there are, and works on every file system;
//! the system's own notices do not.
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What was seen of one file.
type Seen = (PathBuf, SystemTime, u64);

/// Remembers how some files and folders looked.
pub struct Watch {
    places: Vec<PathBuf>,
    last: Vec<Seen>,
}

impl Watch {
    /// Remembers how `places` (files, or folders with all below) look now.
    pub fn new(places: Vec<PathBuf>) -> Self {
        let last = look(&places);
        Self { places, last }
    }

    /// Whether something changed since the last call that said so.
    pub fn changed(&mut self) -> bool {
        let now = look(&self.places);
        let changed = now != self.last;
        self.last = now;
        changed
    }
}

fn look(places: &[PathBuf]) -> Vec<Seen> {
    let mut seen = Vec::new();
    for place in places {
        walk(place, &mut seen);
    }
    seen.sort();
    seen
}

fn walk(path: &Path, seen: &mut Vec<Seen>) {
    // A file may go between the listing and the look: then it simply is not there.
    let Ok(metadata) = fs::metadata(path) else {
        return;
    };
    if !metadata.is_dir() {
        let time = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        seen.push((path.to_path_buf(), time, metadata.len()));
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // Editors keep their own files beside the real ones, mostly hidden or with a tilde.
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with('.') && !name.ends_with('~') {
            walk(&entry.path(), seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_changed_or_removed_file_is_noticed_once() {
        let dir = std::env::temp_dir().join(format!("xtask-watch-{}", std::process::id()));
        fs::create_dir_all(dir.join("deep")).unwrap();
        let mut watch = Watch::new(vec![dir.clone(), dir.join("absent")]);
        assert!(!watch.changed());
        fs::write(dir.join("deep/a.js"), "1").unwrap();
        assert!(watch.changed());
        assert!(!watch.changed());
        fs::write(dir.join("deep/a.js"), "12").unwrap();
        assert!(watch.changed());
        fs::write(dir.join("deep/.a.js.swp"), "").unwrap();
        fs::write(dir.join("deep/a.js~"), "").unwrap();
        assert!(!watch.changed());
        fs::remove_file(dir.join("deep/a.js")).unwrap();
        assert!(watch.changed());
        fs::remove_dir_all(dir).unwrap();
    }
}
