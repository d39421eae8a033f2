//! What was read and what was not.

use std::collections::BTreeMap;

use super::event::printable;
use crate::model::units::Ns;

/// Lines quoted.
const QUOTED: usize = 20;
/// Names of unused events kept apart.
const NAMES: usize = 256;
/// Gaps listed.
const GAPS: usize = 1000;

/// Counters over the whole input.
#[derive(Default)]
pub(super) struct Tally {
    pub bytes: u64,
    pub events: u64,
    /// Of those, used.
    pub used: u64,
    /// Unused events by name.
    pub other: BTreeMap<Vec<u8>, u64>,
    pub other_names_left_out: u64,
    pub unread: u64,
    /// (line, why, how it begins)
    pub quoted: Vec<(u64, String, String)>,
    pub too_long: u64,
    pub unfinished: bool,
    pub lost_events: u64,
    pub loss_remarks: u64,
    /// Lines overwritten in the ring before the first, from the header.
    pub overwritten: u64,
    pub cpus_told: u32,
    pub back_small: u64,
    pub back_large: u64,
    pub back_most: Ns,
    pub gaps: Vec<(Ns, Ns)>,
    pub gap_count: u64,
    pub gap_time: Ns,
    pub raw_clock: bool,
    pub broken_gzip: Option<String>,
}

impl Tally {
    pub(super) fn unread(&mut self, number: u64, why: String, line: &[u8]) {
        self.unread += 1;
        if self.quoted.len() < QUOTED {
            let start = printable(&line[..line.len().min(80)]);
            self.quoted.push((number, why, start));
        }
    }

    pub(super) fn other(&mut self, name: &[u8]) {
        if let Some(count) = self.other.get_mut(name) {
            *count += 1;
        } else if self.other.len() < NAMES {
            self.other.insert(name[..name.len().min(64)].to_vec(), 1);
        } else {
            self.other_names_left_out += 1;
        }
    }

    pub(super) fn gap(&mut self, from: Ns, to: Ns) {
        self.gap_count += 1;
        self.gap_time += to.saturating_sub(from);
        if self.gaps.len() < GAPS {
            self.gaps.push((from, to));
        }
    }
}
