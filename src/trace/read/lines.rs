//! Lines out of chunks: without copying, but for a line that a chunk's edge cuts.

/// Longer lines are left out and counted. The kernel's are below 4096 bytes.
pub const MAX_LINE: usize = 8192;

/// What [`Lines`] finds.
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
    /// The input ended without a line's end, perhaps within a number.
    Unfinished(&'a [u8]),
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    carry: Vec<u8>,
    too_long: bool,
    number: u64,
}

impl Lines {
    /// Lines so far.
    pub(super) fn count(&self) -> u64 {
        self.number
    }

    pub(super) fn feed(&mut self, chunk: &[u8], mut take: impl FnMut(u64, Line<'_>)) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            let line = &chunk[start..end];
            start = end + 1;
            self.number += 1;
            if self.carry.is_empty() && !self.too_long {
                take(self.number, whole(line));
                continue;
            }
            if self.too_long || self.carry.len() + line.len() > MAX_LINE {
                take(self.number, Line::TooLong);
            } else {
                self.carry.extend_from_slice(line);
                take(self.number, whole(&self.carry));
            }
            self.carry.clear();
            self.too_long = false;
        }
        let rest = &chunk[start..];
        if self.too_long || self.carry.len() + rest.len() > MAX_LINE {
            self.too_long = true;
            self.carry.clear();
        } else {
            self.carry.extend_from_slice(rest);
        }
    }

    pub(super) fn finish(&mut self, mut take: impl FnMut(u64, Line<'_>)) {
        if self.too_long || !self.carry.is_empty() {
            self.number += 1;
            take(
                self.number,
                if self.too_long {
                    Line::TooLong
                } else {
                    Line::Unfinished(&self.carry)
                },
            );
            self.carry.clear();
        }
    }
}

fn whole(line: &[u8]) -> Line<'_> {
    if line.len() > MAX_LINE {
        return Line::TooLong;
    }
    Line::Whole(line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], chunk: usize) -> Vec<String> {
        let mut out = Vec::new();
        let mut take = |n: u64, line: Line<'_>| {
            out.push(match line {
                Line::Whole(line) => format!(
                    "{n}:{}:{}",
                    line.len(),
                    String::from_utf8_lossy(&line[..line.len().min(9)])
                ),
                Line::TooLong => format!("{n}:long"),
                Line::Unfinished(line) => {
                    format!("{n}:unfinished:{}", String::from_utf8_lossy(line))
                }
            });
        };
        let mut lines = Lines::default();
        for piece in text.chunks(chunk) {
            lines.feed(piece, &mut take);
        }
        lines.finish(&mut take);
        out
    }

    #[test]
    fn any_split_gives_the_same_lines() {
        let mut text = b"a\r\n\nbc\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', MAX_LINE));
        text.push(b'\n');
        text.extend(std::iter::repeat_n(b'y', MAX_LINE + 1));
        text.extend(b"\nlast\nend");
        let whole = read(&text, text.len());
        assert_eq!(
            whole,
            [
                "1:1:a",
                "2:0:",
                "3:2:bc",
                "4:8192:xxxxxxxxx",
                "5:long",
                "6:4:last",
                "7:unfinished:end"
            ]
        );
        for chunk in [1, 2, 3, 7, 4096, 8191, 8192, 8193, 9000] {
            assert_eq!(read(&text, chunk), whole, "{chunk}");
        }
    }
}
