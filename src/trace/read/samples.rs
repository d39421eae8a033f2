//! A set of durations that answers for its percentiles in bounded memory.
//!
//! Exact up to [`EXACT`] values. Beyond that a histogram with 32 buckets to each power of two:
//! a bucket is at most 1/32 of its value wide and answers with its middle, so a percentile is off
//! by at most 1.6 %. Count, sum and maximum stay exact.
//! One add is O(1); a percentile O(n log n) below [`EXACT`], O(buckets) above.

use crate::model::units::Ns;

/// As many values are kept one by one.
pub(super) const EXACT: usize = 512;

/// Values below this have a bucket each.
const LINEAR: u64 = 64;
const SUB_BITS: u32 = 5;
/// Everything from 2^42 ns (73 minutes) up shares the last bucket.
const TOP_BITS: u32 = 42;
const BUCKETS: usize = LINEAR as usize + ((TOP_BITS - 6) as usize) * (1 << SUB_BITS) + 1;

/// Durations, their sum, their longest and their percentiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    count: u64,
    sum: u64,
    max: u64,
    kept: Kept,
}

#[derive(Clone, Debug)]
enum Kept {
    Each(Vec<u64>),
    Histogram(Box<[u32]>),
}

impl Default for Kept {
    fn default() -> Kept {
        Kept::Each(Vec::new())
    }
}

fn bucket(value: u64) -> usize {
    if value < LINEAR {
        return value as usize;
    }
    let exponent = 63 - value.leading_zeros();
    if exponent >= TOP_BITS {
        return BUCKETS - 1;
    }
    let sub = (value >> (exponent - SUB_BITS)) as usize & ((1 << SUB_BITS) - 1);
    LINEAR as usize + ((exponent - 6) as usize) * (1 << SUB_BITS) + sub
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    if bucket < LINEAR as usize {
        return bucket as u64;
    }
    let at = bucket - LINEAR as usize;
    let exponent = (at >> SUB_BITS) as u32 + 6;
    let width = 1u64 << (exponent - SUB_BITS);
    (1u64 << exponent) + (at as u64 & ((1 << SUB_BITS) - 1)) * width + width / 2
}

impl Samples {
    /// Takes one duration.
    pub fn add(&mut self, value: Ns) {
        let value = value.0;
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.max = self.max.max(value);
        match &mut self.kept {
            Kept::Each(all) if all.len() < EXACT => all.push(value),
            Kept::Each(all) => {
                let mut counts = vec![0u32; BUCKETS].into_boxed_slice();
                for &v in all.iter().chain([&value]) {
                    counts[bucket(v)] += 1;
                }
                self.kept = Kept::Histogram(counts);
            }
            Kept::Histogram(counts) => {
                let slot = &mut counts[bucket(value)];
                *slot = slot.saturating_add(1);
            }
        }
    }

    /// How many were taken.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All of them together.
    pub fn sum(&self) -> Ns {
        Ns(self.sum)
    }

    /// The longest; zero when there is none.
    pub fn max(&self) -> Ns {
        Ns(self.max)
    }

    /// Whether percentiles are exact.
    pub fn is_exact(&self) -> bool {
        matches!(self.kept, Kept::Each(_))
    }

    /// The smallest value that at least `percent` of 100 do not exceed (nearest rank); zero when
    /// there is none.
    pub fn percentile(&self, percent: u32) -> Ns {
        if self.count == 0 {
            return Ns(0);
        }
        let rank = (u128::from(self.count) * u128::from(percent.min(100)))
            .div_ceil(100)
            .max(1) as u64;
        match &self.kept {
            Kept::Each(all) => {
                let mut sorted = all.clone();
                sorted.sort_unstable();
                Ns(sorted[(rank - 1) as usize])
            }
            Kept::Histogram(_) if rank == self.count => Ns(self.max),
            Kept::Histogram(counts) => {
                let mut seen = 0u64;
                for (at, &n) in counts.iter().enumerate() {
                    seen += u64::from(n);
                    if seen >= rank {
                        // The last bucket is open upwards; its only known value is the maximum.
                        let value = if at == BUCKETS - 1 {
                            self.max
                        } else {
                            middle(at)
                        };
                        return Ns(value.min(self.max));
                    }
                }
                Ns(self.max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_by_nearest_rank_while_few() {
        let mut s = Samples::default();
        for v in 1..=100 {
            s.add(Ns(v));
        }
        assert!(s.is_exact());
        assert_eq!(s.percentile(50), Ns(50));
        assert_eq!(s.percentile(99), Ns(99));
        assert_eq!(s.percentile(100), Ns(100));
        assert_eq!(s.percentile(0), Ns(1));
        assert_eq!(Samples::default().percentile(50), Ns(0));
    }

    #[test]
    fn beyond_the_bound_a_percentile_is_within_1_6_percent() {
        let mut s = Samples::default();
        let mut all = Vec::new();
        let mut v = 7u64;
        for _ in 0..5000 {
            v = v
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let value = (v >> 33) * ((v >> 20) & 0xff);
            s.add(Ns(value));
            all.push(value);
        }
        all.sort_unstable();
        assert!(!s.is_exact());
        for p in [50, 90, 99] {
            let exact = all[(all.len() * p as usize).div_ceil(100) - 1] as f64;
            let told = s.percentile(p).0 as f64;
            assert!(
                (told - exact).abs() <= exact * 0.016 + 1.0,
                "{p}: {told} against {exact}"
            );
        }
        assert_eq!(s.percentile(100).0, *all.last().unwrap());
    }

    #[test]
    fn a_bucket_holds_its_middle() {
        for b in 0..BUCKETS - 1 {
            assert_eq!(bucket(middle(b)), b);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }
}
