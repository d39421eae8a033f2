//! An append-only column of instants in order of time, each with a three-bit code: four bytes an
//! entry.
//!
//! Entries lie in blocks of at most 64. A block keeps its first instant in full, its entries only
//! how far they lie behind it, so a block also ends where that no longer fits 29 bits (0.54 s).
//! Finding an instant is two binary searches. The oldest blocks can be forgotten; positions count
//! on from the first entry ever, so they stay valid.

use crate::model::units::Ns;

const CODE_BITS: u32 = 3;
const SPAN: u64 = 1 << (32 - CODE_BITS);
const BLOCK: u64 = 64;

/// A run of entries that share a base.
#[derive(Clone, Copy, Debug)]
struct Block {
    base: u64,
    first: u64,
}

/// The column. Instants never go back.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    words: Vec<u32>,
    blocks: Vec<Block>,
    /// Entries forgotten so far.
    forgotten: u64,
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub at: Ns,
    pub code: u8,
}

impl Column {
    /// Adds an entry; says whether it opened a block.
    #[inline]
    pub fn push(&mut self, at: Ns, code: u8) -> bool {
        debug_assert!(u32::from(code) < 1 << CODE_BITS);
        let end = self.end();
        let fits = self
            .blocks
            .last()
            .filter(|b| end - b.first < BLOCK && at.0 - b.base < SPAN);
        let (base, opened) = match fits {
            Some(block) => (block.base, false),
            None => {
                self.blocks.push(Block {
                    base: at.0,
                    first: end,
                });
                (at.0, true)
            }
        };
        let delta = (at.0 - base) as u32;
        self.words.push(delta << CODE_BITS | u32::from(code));
        opened
    }

    /// The position of the first entry still kept.
    pub fn start(&self) -> u64 {
        self.forgotten
    }

    /// The position behind the last entry.
    pub fn end(&self) -> u64 {
        self.forgotten + self.words.len() as u64
    }

    /// The positions of block `b`.
    pub fn block(&self, b: usize) -> std::ops::Range<u64> {
        let end = self.blocks.get(b + 1).map_or(self.end(), |next| next.first);
        self.blocks[b].first..end
    }

    /// The first instant of block `b`.
    pub fn base(&self, b: usize) -> Ns {
        Ns(self.blocks[b].base)
    }

    /// The block an entry lies in.
    pub fn block_of(&self, i: u64) -> usize {
        self.blocks.partition_point(|b| b.first <= i) - 1
    }

    /// Entry `i`, which lies in block `b`.
    pub fn entry(&self, b: usize, i: u64) -> Entry {
        let word = self.words[(i - self.forgotten) as usize];
        Entry {
            at: Ns(self.blocks[b].base + u64::from(word >> CODE_BITS)),
            code: (word & ((1 << CODE_BITS) - 1)) as u8,
        }
    }

    /// Entry `i`.
    pub fn get(&self, i: u64) -> Entry {
        self.entry(self.block_of(i), i)
    }

    /// The last entry at or before `at`, with its block.
    pub fn at_or_before(&self, at: Ns) -> Option<(usize, u64)> {
        let b = self
            .blocks
            .partition_point(|b| b.base <= at.0)
            .checked_sub(1)?;
        let n = self.count_in_block(b, |t| t <= at);
        Some((b, self.blocks[b].first + n - 1))
    }

    /// The position of the first entry at or after `at`; the end if there is none.
    pub fn at_or_after(&self, at: Ns) -> u64 {
        match self
            .blocks
            .partition_point(|b| b.base < at.0)
            .checked_sub(1)
        {
            Some(b) => self.blocks[b].first + self.count_in_block(b, |t| t < at),
            None => self.start(),
        }
    }

    /// How many entries of block `b`, in order, satisfy `holds`.
    fn count_in_block(&self, b: usize, holds: impl Fn(Ns) -> bool) -> u64 {
        let range = self.block(b);
        let words = &self.words
            [(range.start - self.forgotten) as usize..(range.end - self.forgotten) as usize];
        let base = self.blocks[b].base;
        words.partition_point(|w| holds(Ns(base + u64::from(w >> CODE_BITS)))) as u64
    }

    /// Entries from position `i` on.
    pub fn from(&self, i: u64) -> Entries<'_> {
        let block = if i < self.end() { self.block_of(i) } else { 0 };
        Entries {
            column: self,
            block,
            next: i,
        }
    }

    /// Forgets the blocks that end before `at`; says how many blocks and how many entries.
    /// The entry in force at `at` stays.
    pub fn forget_before(&mut self, at: Ns) -> (usize, usize) {
        let blocks = self
            .blocks
            .partition_point(|b| b.base <= at.0)
            .saturating_sub(1);
        if blocks == 0 {
            return (0, 0);
        }
        let entries = (self.blocks[blocks].first - self.forgotten) as usize;
        self.blocks.drain(..blocks);
        self.words.drain(..entries);
        self.forgotten += entries as u64;
        (blocks, entries)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.words.len() * 4 + self.blocks.len() * size_of::<Block>()
    }

    /// Gives back what a forgetting left unused, if it is much.
    pub fn shrink(&mut self) {
        if self.words.capacity() > 2 * self.words.len() + 1024 {
            self.words
                .shrink_to(self.words.len() + self.words.len() / 2);
            self.blocks
                .shrink_to(self.blocks.len() + self.blocks.len() / 2);
        }
    }
}

/// Walks a column.
pub(super) struct Entries<'a> {
    column: &'a Column,
    block: usize,
    next: u64,
}

impl Iterator for Entries<'_> {
    type Item = (u64, Entry);

    fn next(&mut self) -> Option<(u64, Entry)> {
        let i = self.next;
        if i >= self.column.end() {
            return None;
        }
        if i >= self.column.block(self.block).end {
            self.block += 1;
        }
        self.next += 1;
        Some((i, self.column.entry(self.block, i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some instants, close, far and equal; the list is the oracle.
    fn sample() -> (Column, Vec<Entry>) {
        let mut column = Column::default();
        let mut list = Vec::new();
        let mut at = 0u64;
        let mut seed = 1u64;
        for i in 0..5_000u64 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            at += match seed >> 61 {
                0 => 0,
                1 => 2_000_000_000,
                2 => SPAN - 1,
                _ => seed >> 45,
            };
            let entry = Entry {
                at: Ns(at),
                code: (i % 5) as u8,
            };
            column.push(entry.at, entry.code);
            list.push(entry);
        }
        (column, list)
    }

    fn agrees(column: &Column, list: &[Entry]) {
        let start = column.start() as usize;
        assert_eq!(column.end(), list.len() as u64);
        let walked: Vec<Entry> = column.from(column.start()).map(|(_, e)| e).collect();
        assert_eq!(walked, &list[start..]);
        for (i, e) in list.iter().enumerate().skip(start) {
            assert_eq!(column.get(i as u64), *e);
            for at in [Ns(e.at.0.saturating_sub(1)), e.at, Ns(e.at.0 + 1)] {
                let before = list.partition_point(|x| x.at <= at);
                let found = column.at_or_before(at).map(|(_, i)| i + 1);
                assert_eq!(
                    found,
                    (before > start).then_some(before as u64),
                    "at {}",
                    at.0
                );
                let after = list.partition_point(|x| x.at < at).max(start);
                assert_eq!(column.at_or_after(at), after as u64, "at {}", at.0);
            }
        }
    }

    #[test]
    fn a_column_finds_what_a_list_finds() {
        let (column, list) = sample();
        agrees(&column, &list);
    }

    #[test]
    fn positions_outlive_forgetting_and_the_entry_in_force_stays() {
        let (mut column, list) = sample();
        let at = list[3_000].at;
        let in_force = list.partition_point(|x| x.at <= at) as u64 - 1;
        let (blocks, entries) = column.forget_before(at);
        assert!(blocks > 0 && entries > 0 && column.start() <= in_force);
        agrees(&column, &list);
    }
}
