//! Relaxed JSON, read where it stands: a cursor that hands out keys and values, no tree.
//!
//! What json-c (rt-app) and workgen take is taken: comments of both kinds, a comma after the last
//! entry, strings in single quotes, line breaks in strings, `TRUE` for `true`, repeated keys (each
//! is handed out in turn), keys without a value. One pass, linear in the bytes; memory is the path
//! to the cursor. Line and column are counted only when something is wrong.

use std::borrow::Cow;

use super::bounds;
use super::error::Error;

/// A cursor in the text of a workload.
pub(super) struct Text<'t> {
    text: &'t str,
    file: &'t str,
    at: usize,
    depth: usize,
    path: Vec<Cow<'t, str>>,
}

/// An object or a list that is being read.
pub(super) struct Items {
    level: usize,
    count: u32,
}

/// A key of an object.
pub(super) struct Key<'t> {
    /// The key, unescaped.
    pub name: Cow<'t, str>,
    /// Where it begins.
    pub at: usize,
    /// No value follows.
    pub bare: bool,
}

/// What kind of value comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    List,
    String,
    Number,
    Bool,
    Other,
}

type Result<T> = std::result::Result<T, Error>;

impl<'t> Text<'t> {
    /// A cursor at the start of `text`, behind a byte order mark if there is one.
    pub fn new(text: &'t str, file: &'t str) -> Text<'t> {
        Text {
            text,
            file,
            at: if text.starts_with('\u{feff}') { 3 } else { 0 },
            depth: 0,
            path: Vec::new(),
        }
    }

    /// Where the cursor stands.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The keys that lead to the cursor.
    pub fn path(&self) -> String {
        let mut joined = String::new();
        for part in &self.path {
            if !joined.is_empty() && !part.starts_with('[') {
                joined.push('.');
            }
            push_plain(&mut joined, part);
        }
        joined
    }

    /// A mistake at `at`, in the entry that is being read.
    pub fn error(&self, at: usize, message: String) -> Error {
        self.error_in(at, self.path(), message)
    }

    /// A mistake at `at` whose path is known otherwise.
    pub fn error_in(&self, at: usize, path: String, message: String) -> Error {
        Error::at(self.file, self.text.as_bytes(), at, path, message)
    }

    /// `expected ..., found ...`
    pub fn unexpected(&self, at: usize, expected: &str) -> Error {
        self.error(
            at,
            ["expected ", expected, ", found ", &self.found(at)].concat(),
        )
    }

    /// Too much of something.
    pub fn over(&self, at: usize, what: &str, bound: usize) -> Error {
        self.error(at, over(what, bound))
    }

    /// What stands at `at`, for a message.
    fn found(&self, at: usize) -> String {
        let rest = &self.text[at..];
        let Some(c) = rest.chars().next() else {
            return "the end of the file".to_owned();
        };
        match c {
            '{' => "an object".to_owned(),
            '[' => "a list".to_owned(),
            '"' | '\'' => {
                let inner = &rest[1..];
                let end = inner.find([c, '\n']).unwrap_or(inner.len());
                quoted(&inner[..end])
            }
            c if is_word(c) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                cut(&rest[..end]).into_owned()
            }
            c => {
                let mut found = String::from("'");
                push_plain(&mut found, c.encode_utf8(&mut [0; 4]));
                found.push('\'');
                found
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.byte() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Skips white space and comments.
    pub fn space(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'/') => {
                    let start = self.at;
                    let rest = &self.text[start..];
                    if rest.starts_with("//") {
                        self.at += rest.find('\n').unwrap_or(rest.len());
                    } else if let Some(comment) = rest.strip_prefix("/*") {
                        match comment.find("*/") {
                            Some(n) => self.at += n + 4,
                            None => {
                                let message = "expected */ at the end of the comment, found the end of the file";
                                return Err(self.error(start, message.to_owned()));
                            }
                        }
                    } else {
                        return Err(self.unexpected(start, "// or /* to begin a comment"));
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// What comes next.
    pub fn kind(&self) -> Kind {
        match self.byte() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::List,
            Some(b'"' | b'\'') => Kind::String,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            Some(b't' | b'T' | b'f' | b'F') => Kind::Bool,
            _ => Kind::Other,
        }
    }

    /// Enters an object.
    pub fn object(&mut self, expected: &str) -> Result<Items> {
        self.enter(b'{', expected)
    }

    /// Enters a list.
    pub fn list(&mut self, expected: &str) -> Result<Items> {
        self.enter(b'[', expected)
    }

    fn enter(&mut self, open: u8, expected: &str) -> Result<Items> {
        if !self.take(open) {
            return Err(self.unexpected(self.at, expected));
        }
        self.depth += 1;
        if self.depth > bounds::NESTING {
            return Err(self.over(self.at - 1, "levels of nesting", bounds::NESTING));
        }
        Ok(Items {
            level: self.path.len(),
            count: 0,
        })
    }

    /// Goes to the next entry; false at the end, which is passed.
    fn next(&mut self, items: &mut Items, close: u8, expected: &str) -> Result<bool> {
        self.space()?;
        self.path.truncate(items.level);
        if items.count > 0 && !self.take(b',') && self.byte() != Some(close) {
            return Err(self.unexpected(self.at, expected));
        }
        self.space()?;
        if self.take(close) {
            self.depth -= 1;
            return Ok(false);
        }
        items.count += 1;
        Ok(true)
    }

    /// The next key of an object; its value, if any, comes next.
    pub fn key(&mut self, items: &mut Items) -> Result<Option<Key<'t>>> {
        if !self.next(items, b'}', "',' or '}'")? {
            return Ok(None);
        }
        let at = self.at;
        if self.kind() != Kind::String {
            return Err(self.unexpected(at, "a key in quotes"));
        }
        let name = self.string("a key in quotes")?;
        if name.len() > bounds::NAME {
            return Err(self.over(at, "bytes in a name", bounds::NAME));
        }
        self.path.push(name.clone());
        self.space()?;
        let bare = match self.byte() {
            Some(b':') => {
                self.at += 1;
                self.space()?;
                false
            }
            Some(b',' | b'}') => true,
            _ => return Err(self.unexpected(self.at, "':' after the key")),
        };
        Ok(Some(Key { name, at, bare }))
    }

    /// Goes to the next entry of a list.
    pub fn item(&mut self, items: &mut Items) -> Result<bool> {
        let more = self.next(items, b']', "',' or ']'")?;
        if more {
            let n = items.count - 1;
            self.path
                .push(Cow::Owned(["[", &n.to_string(), "]"].concat()));
        }
        Ok(more)
    }

    /// A string.
    pub fn string(&mut self, expected: &str) -> Result<Cow<'t, str>> {
        let start = self.at;
        let quote = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => return Err(self.unexpected(start, expected)),
        };
        self.at += 1;
        let mut from = self.at;
        let mut unescaped = String::new();
        loop {
            match self.byte() {
                None => {
                    let message =
                        "expected a quote at the end of the string, found the end of the file";
                    return Err(self.error(start, message.to_owned()));
                }
                Some(b'\\') => {
                    unescaped.push_str(&self.text[from..self.at]);
                    let c = self.escape()?;
                    unescaped.push(c);
                    from = self.at;
                }
                Some(byte) if byte == quote => {
                    let rest = &self.text[from..self.at];
                    self.at += 1;
                    return Ok(if unescaped.is_empty() {
                        Cow::Borrowed(rest)
                    } else {
                        unescaped.push_str(rest);
                        Cow::Owned(unescaped)
                    });
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        let escaped = self.text.as_bytes().get(start + 1).copied();
        self.at += 2;
        Ok(match escaped {
            Some(c @ (b'"' | b'\'' | b'\\' | b'/')) => c as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.four_digits(start)?;
                let pair = if (0xd800..0xdc00).contains(&high)
                    && self.text[self.at..].starts_with("\\u")
                {
                    let resume = self.at;
                    self.at += 2;
                    let low = self.four_digits(resume)?;
                    if (0xdc00..0xe000).contains(&low) {
                        0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                    } else {
                        self.at = resume;
                        high
                    }
                } else {
                    high
                };
                // A half of a pair alone is no character; json-c puts this one in its place.
                char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => {
                self.at = start;
                let message =
                    "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX after the backslash";
                return Err(self.error(start, message.to_owned()));
            }
        })
    }

    fn four_digits(&mut self, escape: usize) -> Result<u32> {
        let digits = self.text.get(self.at..self.at + 4);
        match digits {
            Some(d) if d.bytes().all(|b| b.is_ascii_hexdigit()) => {
                self.at += 4;
                Ok(u32::from_str_radix(d, 16).unwrap_or(0))
            }
            _ => {
                let message = "expected four hexadecimal digits after \\u";
                Err(self.error(escape, message.to_owned()))
            }
        }
    }

    /// A name in quotes, not longer than a name may be.
    pub fn name(&mut self, expected: &str) -> Result<Cow<'t, str>> {
        let at = self.at;
        let name = self.string(expected)?;
        if name.len() > bounds::NAME {
            return Err(self.over(at, "bytes in a name", bounds::NAME));
        }
        Ok(name)
    }

    /// A whole number in `low..=high`.
    pub fn integer(&mut self, expected: &str, low: i64, high: i64) -> Result<i64> {
        let at = self.at;
        let end = self.word_end();
        match self.text[at..end].parse::<i64>() {
            Ok(n) if n >= low && n <= high && self.byte() != Some(b'+') => {
                self.at = end;
                Ok(n)
            }
            _ => Err(self.unexpected(at, expected)),
        }
    }

    /// A number with at most three digits behind the point, as thousandths.
    pub fn thousandths(&mut self, expected: &str, high: i64) -> Result<i64> {
        let at = self.at;
        let end = self.word_end();
        let word = &self.text[at..end];
        let (whole, part) = word.split_once('.').unwrap_or((word, "0"));
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if digits(whole) && digits(part) && part.len() <= 3 && whole.len() <= 15 {
            let whole: i64 = whole.parse().unwrap_or(0);
            let scale = [100, 10, 1][part.len() - 1];
            let part: i64 = part.parse().unwrap_or(0);
            if whole <= high {
                self.at = end;
                return Ok(whole * 1000 + part * scale);
            }
        }
        Err(self.unexpected(at, expected))
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, expected: &str) -> Result<bool> {
        let at = self.at;
        let end = self.word_end();
        let word = &self.text[at..end];
        let value = word.eq_ignore_ascii_case("true");
        if !value && !word.eq_ignore_ascii_case("false") {
            return Err(self.unexpected(at, expected));
        }
        self.at = end;
        Ok(value)
    }

    fn word_end(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + rest.find(|c| !is_word(c)).unwrap_or(rest.len())
    }

    /// Passes over a value of any kind.
    pub fn skip(&mut self) -> Result<()> {
        match self.kind() {
            Kind::Object => {
                let mut items = self.object("")?;
                while let Some(key) = self.key(&mut items)? {
                    if !key.bare {
                        self.skip()?;
                    }
                }
            }
            Kind::List => {
                let mut items = self.list("")?;
                while self.item(&mut items)? {
                    self.skip()?;
                }
            }
            Kind::String => {
                self.string("")?;
            }
            Kind::Number => {
                let end = self.word_end();
                let number = |c: char| c.is_ascii_digit() || "-+.eE".contains(c);
                if !self.text[self.at..end].chars().all(number) {
                    return Err(self.unexpected(self.at, "a number"));
                }
                self.at = end;
            }
            Kind::Bool | Kind::Other => {
                let end = self.word_end();
                let word = &self.text[self.at..end];
                if !["true", "false", "null", "nan", "infinity"]
                    .iter()
                    .any(|known| word.eq_ignore_ascii_case(known))
                {
                    return Err(self.unexpected(self.at, "a value"));
                }
                self.at = end;
            }
        }
        Ok(())
    }

    /// Nothing but white space and comments up to the end.
    pub fn end(&mut self) -> Result<()> {
        self.path.clear();
        self.space()?;
        if self.at < self.text.len() {
            return Err(self.unexpected(self.at, "nothing after the workload"));
        }
        Ok(())
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_')
}

/// Too much of something, as every message says it.
pub(super) fn over(what: &str, bound: usize) -> String {
    [
        "more than ",
        &bound.to_string(),
        " ",
        what,
        ", which is the bound",
    ]
    .concat()
}

/// The first characters of what may be long.
fn cut(long: &str) -> Cow<'_, str> {
    match long.char_indices().nth(40) {
        Some((n, _)) => Cow::Owned([&long[..n], "..."].concat()),
        None => Cow::Borrowed(long),
    }
}

/// A stranger's text in quotes, cut, with nothing in it that could act on a terminal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    push_plain(&mut out, &cut(text));
    out.push('"');
    out
}

/// Appends text with control characters made visible.
pub(super) fn push_plain(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // C0, DEL, C1, and the marks that turn the direction of text around.
            '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                let code = c as u32;
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(char::from_digit(code >> shift & 15, 16).unwrap_or('0'));
                }
            }
            c => out.push(c),
        }
    }
}
