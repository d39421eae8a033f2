//! Many runs of the same tests, and which of them failed.
use super::{
    libtest,
    step::Step,
    tested::{Failed, Tested},
};
use std::{collections::BTreeMap, time::Duration};

/// The runs so far.
#[derive(Debug)]
pub struct Runs {
    step: Step,
    wanted: u32,
    green: usize,
    times: Vec<Duration>,
    failed: BTreeMap<Failed, Vec<u32>>,
    trouble: BTreeMap<String, Vec<u32>>,
}

impl Runs {
    /// None of `wanted` so far.
    pub fn new(step: Step, wanted: u32) -> Self {
        Self {
            step,
            wanted,
            green: 0,
            times: Vec::new(),
            failed: BTreeMap::new(),
            trouble: BTreeMap::new(),
        }
    }

    /// One more. What a stopped run found is kept; it counts as no run.
    pub fn add(&mut self, number: u32, tested: &Tested, time: Option<Duration>) {
        for failed in &tested.failed {
            self.failed.entry(failed.clone()).or_default().push(number);
        }
        let Some(time) = time else { return };
        for trouble in &tested.trouble {
            self.trouble
                .entry(trouble.clone())
                .or_default()
                .push(number);
        }
        self.times.push(time);
        self.green += usize::from(tested.green());
    }

    /// All tests that failed at least once.
    pub fn failed(&self) -> Vec<Failed> {
        self.failed.keys().cloned().collect()
    }

    /// The failure in a clause, if there is one.
    pub fn failure(&self) -> Option<String> {
        let (done, red) = (self.times.len(), self.times.len() - self.green);
        if done < self.wanted as usize {
            Some(format!(
                "stopped after {done} of {} runs, {red} failed",
                self.wanted
            ))
        } else {
            (red > 0).then(|| format!("{red} of {done} runs failed"))
        }
    }

    /// The table: how many were green, how long they took, and what failed when.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{}: {} of {} runs green",
            self.step.name(),
            self.green,
            self.times.len()
        );
        if self.times.len() < self.wanted as usize {
            text += &format!(" ({} were asked for)", self.wanted);
        }
        let mut times = self.times.clone();
        times.sort();
        if let (Some(min), Some(max)) = (times.first(), times.last()) {
            text += &format!(
                "; time min {}, median {}, max {}",
                super::seconds(*min),
                super::seconds(times[times.len() / 2]),
                super::seconds(*max)
            );
        }
        text.push('\n');
        let failed = self
            .failed
            .iter()
            .map(|(failed, runs)| (runs, format!("{}  {}", failed.place, failed.name)));
        let trouble = self.trouble.iter().map(|(told, runs)| (runs, told.clone()));
        let mut rows: Vec<_> = failed.chain(trouble).collect();
        // What fails most often first.
        rows.sort_by_key(|(runs, _)| std::cmp::Reverse(runs.len()));
        for (runs, told) in rows {
            let numbers: Vec<_> = runs.iter().map(u32::to_string).collect();
            let (count, numbers) = (runs.len(), numbers.join(", "));
            text += &format!("  {count:4}x  {told}\n         in run {numbers}\n");
        }
        text
    }
}

/// More tests than these are asked for by their step.
const CHOICE: usize = 8;

/// The texts that choose `failed`; none where that is a long list.
pub fn choice(step: Step, failed: &[Failed]) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    for test in failed {
        let text = if step.has_titles() {
            test.name.as_str()
        } else {
            libtest::choosable(&test.name)
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.len() > CHOICE {
        texts.clear();
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(place: &str, name: &str) -> Failed {
        Failed {
            place: place.into(),
            name: name.into(),
        }
    }

    #[test]
    fn the_table_counts_runs_and_names_them() {
        let mut runs = Runs::new(Step::Page, 5);
        let rare = failed("tour.spec.mjs:9", "counts hands");
        let often = failed("undo.spec.mjs:3", "goes back");
        let mut red = Tested {
            ran: Vec::new(),
            failed: vec![rare, often.clone()],
            trouble: Vec::new(),
        };
        let time = |tenths: u64| Some(Duration::from_millis(tenths * 100));
        runs.add(1, &Tested::default(), time(30));
        assert_eq!(
            runs.failure().unwrap(),
            "stopped after 1 of 5 runs, 0 failed"
        );
        runs.add(2, &red, time(10));
        red.failed = vec![often.clone()];
        red.trouble = vec!["node ended with exit status: 1".into()];
        runs.add(3, &red, time(20));
        red.trouble = vec!["node was stopped".into()];
        runs.add(4, &red, None);
        assert_eq!(
            runs.table(),
            "page: 1 of 3 runs green (5 were asked for); time min 1.0 s, median 2.0 s, max 3.0 s\n\
             \x20    3x  undo.spec.mjs:3  goes back\n         in run 2, 3, 4\n\
             \x20    1x  tour.spec.mjs:9  counts hands\n         in run 2\n\
             \x20    1x  node ended with exit status: 1\n         in run 3\n"
        );
        assert_eq!(runs.failed().len(), 2);
        assert_eq!(
            runs.failure().unwrap(),
            "stopped after 3 of 5 runs, 2 failed"
        );
    }

    #[test]
    fn green_runs_are_no_failure() {
        let mut runs = Runs::new(Step::Native, 1);
        runs.add(1, &Tested::default(), Some(Duration::ZERO));
        assert_eq!(runs.failure(), None);
        assert!(runs.table().starts_with("native: 1 of 1 runs green; time"));
    }

    #[test]
    fn a_long_choice_is_the_step() {
        let example = "src/a.rs - a::B (line 9)";
        let tests = [failed("", example), failed("", "src/a.rs - a::B (line 30)")];
        assert_eq!(choice(Step::Native, &tests), ["a::B"]);
        assert_eq!(choice(Step::Page, &tests[..1]), [example]);
        let many: Vec<_> = (0..9).map(|n| failed("", &n.to_string())).collect();
        assert_eq!(choice(Step::Page, &many), [""; 0]);
    }
}
