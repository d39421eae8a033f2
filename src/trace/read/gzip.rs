//! gzip in, text out, pushed. Members may follow each other, as `cat a.gz b.gz` makes them.

use std::io::Write;

use flate2::write::MultiGzDecoder;

/// A decoder that hands out what it has after each chunk.
pub(super) struct Gunzip(MultiGzDecoder<Vec<u8>>);

/// Compressed bytes given to the decoder at once. A chunk expands at most 1032 times, so what is
/// held between two calls stays below 9 MB.
const STEP: usize = 8192;

impl Gunzip {
    pub(super) fn new() -> Gunzip {
        Gunzip(MultiGzDecoder::new(Vec::new()))
    }

    pub(super) fn feed(&mut self, chunk: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), String> {
        for step in chunk.chunks(STEP) {
            let done = self.0.write_all(step);
            take(self.0.get_ref());
            self.0.get_mut().clear();
            done.map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self, mut take: impl FnMut(&[u8])) -> Result<(), String> {
        let done = self.0.try_finish();
        take(self.0.get_ref());
        done.map_err(|e| e.to_string())
    }
}
