//! The grid of a sweep: every combination of its parameters, numbered.

use super::args::{NiceRange, Shard};
use crate::model::kernel::Kernel;
use crate::model::pi::Variant;

/// The parameters; `None` leaves the file's word.
pub(super) struct Grid {
    pub kernels: Vec<Option<Kernel>>,
    pub hz: Vec<Option<u32>>,
    pub variants: Vec<Option<Variant>>,
    pub nice: Vec<NiceRange>,
}

/// One combination.
pub(super) struct Point<'a> {
    pub kernel: Option<Kernel>,
    pub hz: Option<u32>,
    pub pi: Option<Variant>,
    pub nice: Vec<(&'a str, i32)>,
}

impl Grid {
    /// How many combinations there are; what no machine could ever finish counts as the most.
    pub fn len(&self) -> u64 {
        let others = [self.kernels.len(), self.hz.len(), self.variants.len()];
        let nice = self.nice.iter().map(|r| r.levels.len());
        others
            .into_iter()
            .chain(nice)
            .fold(1u64, |product, n| product.saturating_mul(n as u64))
    }

    /// Combination `index`: the last nice range goes fastest, the kernels slowest.
    pub fn point(&self, index: u64) -> Point<'_> {
        let mut rest = index;
        let mut digit = |n: usize| {
            let digit = rest % n as u64;
            rest /= n as u64;
            digit as usize
        };
        let mut nice: Vec<(&str, i32)> = Vec::new();
        for range in self.nice.iter().rev() {
            nice.push((&range.task, range.levels[digit(range.levels.len())]));
        }
        nice.reverse();
        let pi = self.variants[digit(self.variants.len())];
        let hz = self.hz[digit(self.hz.len())];
        let kernel = self.kernels[digit(self.kernels.len())];
        Point {
            kernel,
            hz,
            pi,
            nice,
        }
    }

    /// The first combination of a shard, and the one behind its last: consecutive parts.
    pub fn part(&self, shard: Option<Shard>) -> (u64, u64) {
        let all = u128::from(self.len());
        let Some(Shard { index, count }) = shard else {
            return (0, all as u64);
        };
        let edge = |i: u64| (all * u128::from(i) / u128::from(count)) as u64;
        (edge(index), edge(index + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let range = |task: &str, levels: Vec<i32>| NiceRange {
            task: task.into(),
            levels,
        };
        Grid {
            kernels: vec![None],
            hz: vec![Some(250), Some(1000)],
            variants: vec![None],
            nice: vec![range("low", vec![0, 5, 10]), range("high", vec![1, 2])],
        }
    }

    #[test]
    fn the_last_range_goes_fastest() {
        let grid = grid();
        assert_eq!(grid.len(), 12);
        let point = |i| {
            let p = grid.point(i);
            (p.hz.unwrap(), p.nice[0].1, p.nice[1].1)
        };
        assert_eq!(point(0), (250, 0, 1));
        assert_eq!(point(1), (250, 0, 2));
        assert_eq!(point(2), (250, 5, 1));
        assert_eq!(point(6), (1000, 0, 1));
        assert_eq!(point(11), (1000, 10, 2));
    }

    #[test]
    fn shards_are_consecutive_and_leave_nothing_out() {
        let grid = grid();
        for count in 1..20 {
            let mut next = 0;
            for index in 0..count {
                let (from, to) = grid.part(Some(Shard { index, count }));
                assert_eq!(from, next);
                next = to;
            }
            assert_eq!(next, 12);
        }
    }
}
