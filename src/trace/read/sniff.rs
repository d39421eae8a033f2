//! What a file is, from its first bytes: text is read, anything else refused with what to do.

use super::Error;

/// Bytes looked at.
pub(super) const HEAD: usize = 512;

/// `Ok(bytes to skip)` for text.
pub(super) fn text(head: &[u8]) -> Result<usize, Error> {
    let refuse = |what, remedy| Err(Error::NotText { what, remedy });
    if head.starts_with(b"\x17\x08\x44tracing") {
        return refuse(
            "a binary trace.dat of trace-cmd",
            "turn it into text with `trace-cmd report FILE > trace.txt`",
        );
    }
    if head.starts_with(b"PERFILE2") || head.starts_with(b"2ELIFREP") {
        return refuse(
            "a binary perf.data",
            "turn it into text with `perf script -i FILE > trace.txt`",
        );
    }
    for (magic, what, remedy) in [
        (
            &b"\xfd7zXZ\0"[..],
            "compressed with xz",
            "unpack it with `xz -d FILE`",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "compressed with zstd",
            "unpack it with `zstd -d FILE`",
        ),
        (
            b"BZh",
            "compressed with bzip2",
            "unpack it with `bzip2 -d FILE`",
        ),
        (
            b"PK\x03\x04",
            "a zip archive",
            "unpack it with `unzip FILE`",
        ),
        (
            b"\x1f\x8b",
            "compressed with gzip",
            "unpack it with `gzip -d FILE`",
        ),
        (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
        (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
    ] {
        if head.starts_with(magic) {
            return refuse(what, remedy);
        }
    }
    // Names may hold any byte, but a trace's text is printable by far.
    let odd = head
        .iter()
        .filter(|&&b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x1b))
        .count();
    if head.contains(&0) || odd * 10 > head.len() {
        return refuse(
            "not text",
            "write it as ftrace text with `trace-cmd report` or `perf script`",
        );
    }
    Ok(if head.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    })
}
