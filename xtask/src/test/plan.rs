//! What the words after `cargo xtask test` ask for.
use super::step::{ALL, Step};

/// More runs than this are a slip of the finger.
const MOST: u32 = 1000;

/// What to run, how often and beside what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In their order, each once.
    pub steps: Vec<Step>,
    /// Run the tests this often, whatever comes out.
    pub repeat: Option<u32>,
    /// Keep all cores busy meanwhile.
    pub load: bool,
    /// Only tests whose name contains one of these.
    pub only: Vec<String>,
}

impl Plan {
    /// Reads the words; without a step it is all but the documentation engines.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let mut plan = Self::default();
        let mut wanted = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option, Some(value)),
                _ => (word.as_str(), None),
            };
            match (option, value) {
                ("--load", None) => plan.load = true,
                ("--load", Some(_)) => return Err("test: --load takes no value".into()),
                ("--repeat", value) => {
                    let value = value.or_else(|| words.next().map(String::as_str));
                    if plan.repeat.replace(times(value)?).is_some() {
                        return Err("test: --repeat is given twice".into());
                    }
                }
                ("--only", value) => {
                    let mut next = || words.next().map(String::as_str);
                    // A forgotten text would swallow the next option.
                    let value = value.or_else(|| next().filter(|text| !text.starts_with("--")));
                    plan.only.push(text(value)?);
                }
                (option, _) if option.starts_with('-') => {
                    return Err(format!(
                        "test: unknown option {word:?}; expected --repeat N, --load or --only TEXT"
                    ));
                }
                _ => wanted.extend(steps(word)?),
            }
        }
        plan.check(&wanted)?;
        if wanted.iter().any(|step| step.needs_build()) {
            wanted.push(Step::Build);
        }
        // The documentation engines take minutes to fetch and are run when asked for by name.
        let usual = wanted.is_empty();
        plan.steps = ALL
            .iter()
            .copied()
            .filter(|step| match usual {
                true => *step != Step::Packages,
                false => wanted.contains(step),
            })
            .collect();
        Ok(plan)
    }

    /// The options are for tests with names; a build beside them is made once.
    fn check(&self, wanted: &[Step]) -> Result<(), String> {
        let given = [
            ("--repeat", self.repeat.is_some()),
            ("--load", self.load),
            ("--only", !self.only.is_empty()),
        ];
        let Some((option, _)) = given.into_iter().find(|(_, given)| *given) else {
            return Ok(());
        };
        let tests = names(|step| step.has_tests());
        if let Some(other) = wanted
            .iter()
            .find(|step| !step.has_tests() && **step != Step::Build)
        {
            return Err(format!(
                "test: {option} is for steps with tests ({tests}), not for {}",
                other.name()
            ));
        }
        if !wanted.iter().any(|step| step.has_tests()) {
            return Err(format!("test: {option} needs a step with tests: {tests}"));
        }
        let plain = wanted
            .iter()
            .find(|step| step.has_tests() && !step.has_titles());
        let blank = self.only.iter().find(|text| text.contains(' '));
        if let (Some(step), Some(text)) = (plain, blank) {
            return Err(format!(
                "test: --only {text:?}: names of {} tests have no blanks",
                step.name()
            ));
        }
        Ok(())
    }

    /// What runs first, what runs beside that, and what comes after both. Only `native` is long enough to have
    /// something beside it, and only when nothing is measured or looked for.
    pub fn order(&self) -> [Vec<Step>; 3] {
        let plain = self.repeat.is_none() && !self.load && self.only.is_empty();
        if !plain || !self.steps.contains(&Step::Native) {
            return [self.steps.clone(), vec![], vec![]];
        }
        let (rest, mut beside): (Vec<_>, Vec<_>) =
            self.steps.iter().partition(|step| !step.goes_beside());
        // The longest way first: what is linked leaves a core to the native tests, and clippy waits for them.
        beside.sort_by_key(|step| match step {
            Step::Build => 0,
            Step::Wasm => 1,
            Step::Scripts => 2,
            _ => 3,
        });
        let (after, first) = rest.into_iter().partition(|step| step.needs_build());
        [first, beside, after]
    }

    /// The command that runs `only` of `step`'s tests, in the same way.
    pub fn command(&self, step: Step, only: &[&str]) -> String {
        let mut line = format!("cargo xtask test {}", step.name());
        if !step.has_tests() {
            return line;
        }
        for text in only {
            let separator = if text.starts_with("--") { "=" } else { " " };
            line += &format!(" --only{separator}{}", quoted(text));
        }
        if let Some(times) = self.repeat {
            line += &format!(" --repeat {times}");
        }
        if self.load {
            line += " --load";
        }
        line
    }
}

fn names(which: impl Fn(Step) -> bool) -> String {
    let names: Vec<_> = ALL
        .iter()
        .filter(|step| which(**step))
        .map(|step| step.name())
        .collect();
    match names.split_last() {
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn steps(word: &str) -> Result<Vec<Step>, String> {
    match ALL.iter().find(|step| step.name() == word) {
        Some(step) => Ok(vec![*step]),
        None if word == "lint" => Ok(vec![Step::Format, Step::Clippy, Step::Scripts]),
        None => Err(format!(
            "test: unknown step {word:?}; expected lint, {}",
            names(|_| true)
        )),
    }
}

fn times(word: Option<&str>) -> Result<u32, String> {
    let word = word.ok_or(format!("test: --repeat needs a number from 1 to {MOST}"))?;
    match word.parse() {
        Ok(times @ 1..=MOST) => Ok(times),
        _ => Err(format!(
            "test: --repeat {word:?}: expected a number from 1 to {MOST}"
        )),
    }
}

fn text(word: Option<&str>) -> Result<String, String> {
    match word {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(
            "test: --only needs a part of a test's name (--only=TEXT where it begins with --)"
                .into(),
        ),
    }
}

/// For a shell: in single quotes where it needs some. Titles are full of quotes and backticks.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-:./".contains(c);
    if text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(words: &[&str]) -> Result<Plan, String> {
        Plan::parse(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
    }

    fn steps(line: &str) -> Vec<Step> {
        plan(&line.split_whitespace().collect::<Vec<_>>())
            .unwrap()
            .steps
    }

    #[test]
    fn steps_run_in_their_order_and_once() {
        assert_eq!(steps(""), &ALL[..ALL.len() - 1]);
        assert_eq!(steps("packages"), [Step::Build, Step::Packages]);
        assert_eq!(steps("wasm native wasm"), [Step::Native, Step::Wasm]);
        assert_eq!(steps("page"), [Step::Build, Step::Page]);
        assert_eq!(
            steps("lint"),
            [Step::Format, Step::Clippy, Step::Build, Step::Scripts]
        );
    }

    #[test]
    fn tests_are_chosen_repeated_and_loaded() {
        let both = Plan {
            steps: vec![Step::Build, Step::Page],
            repeat: Some(20),
            load: true,
            only: vec!["the tour".into(), "--pi".into()],
        };
        for words in [
            &[
                "page",
                "--repeat",
                "20",
                "--load",
                "--only",
                "the tour",
                "--only=--pi",
            ][..],
            &[
                "--only=the tour",
                "--load",
                "build",
                "--repeat=20",
                "--only=--pi",
                "page",
            ],
        ] {
            assert_eq!(plan(words).unwrap(), both, "{words:?}");
        }
        let native = plan(&["native", "--only", "walk::deep"]).unwrap();
        assert_eq!((native.repeat, native.load), (None, false));
        assert_eq!(native.only, ["walk::deep"]);
    }

    #[test]
    fn wrong_words_are_told_in_one_sentence() {
        for (words, part) in [
            (
                &["pages"][..],
                "unknown step \"pages\"; expected lint, format",
            ),
            (
                &["--fast"],
                "unknown option \"--fast\"; expected --repeat N",
            ),
            (&["--fast=1", "page"], "unknown option \"--fast=1\""),
            (
                &["page", "--repeat"],
                "--repeat needs a number from 1 to 1000",
            ),
            (
                &["page", "--repeat", "0"],
                "--repeat \"0\": expected a number",
            ),
            (
                &["page", "--repeat", "x"],
                "--repeat \"x\": expected a number",
            ),
            (
                &["page", "--repeat", "-3"],
                "--repeat \"-3\": expected a number",
            ),
            (
                &["page", "--repeat=1001"],
                "--repeat \"1001\": expected a number",
            ),
            (
                &["page", "--repeat=2", "--repeat=3"],
                "--repeat is given twice",
            ),
            (
                &["--repeat", "3"],
                "--repeat needs a step with tests: native",
            ),
            (
                &["build", "--repeat", "3"],
                "--repeat needs a step with tests",
            ),
            (&["--load"], "--load needs a step with tests"),
            (&["--only", "tour"], "--only needs a step with tests"),
            (&["page", "--load=2"], "--load takes no value"),
            (
                &["lint", "page", "--load"],
                "--load is for steps with tests",
            ),
            (
                &["scripts", "page", "--only", "x"],
                "wasm, page or packages), not for scripts",
            ),
            (&["page", "--only"], "--only needs a part"),
            (&["page", "--only", ""], "--only needs a part"),
            (&["page", "--only="], "--only needs a part"),
            (&["page", "--only", "--load"], "--only needs a part"),
            (
                &["page", "wasm", "--only", "the tour"],
                "names of wasm tests have no blanks",
            ),
        ] {
            let sentence = plan(words).unwrap_err();
            assert!(sentence.contains(part), "{words:?}: {sentence}");
            assert!(sentence.starts_with("test: "), "{words:?}: {sentence}");
            assert!(!sentence.contains('\n'), "{words:?}: {sentence}");
        }
    }

    #[test]
    fn the_command_for_some_tests_can_be_pasted_and_asks_for_just_these() {
        let load = Plan {
            repeat: Some(9),
            load: true,
            ..Plan::default()
        };
        let title = "what `simulate` prints is the page's";
        assert_eq!(
            load.command(Step::Page, &[title, "--pi"]),
            r"cargo xtask test page --only 'what `simulate` prints is the page'\''s' --only=--pi --repeat 9 --load"
        );
        assert_eq!(
            Plan::default().command(Step::Native, &["pi::tests::deep"]),
            "cargo xtask test native --only pi::tests::deep"
        );
        assert_eq!(load.command(Step::Clippy, &[]), "cargo xtask test clippy");
    }

    #[test]
    fn what_is_compiled_elsewhere_goes_beside_the_native_tests() {
        use Step::*;
        let order = |line: &[&str]| {
            let words: Vec<_> = line.iter().map(|w| (*w).to_owned()).collect();
            Plan::parse(&words).unwrap().order()
        };
        let all = order(&[]);
        assert_eq!(all[0], [Format, Native, Oracle, Tool]);
        assert_eq!(all[1], [Build, Wasm, Scripts, Clippy]);
        assert_eq!(all[2], [Page]);
        // A step alone, or one that is watched, has the machine for itself.
        let none: Vec<Step> = vec![];
        assert_eq!(
            order(&["lint"]),
            [
                vec![Format, Clippy, Build, Scripts],
                none.clone(),
                none.clone()
            ]
        );
        assert_eq!(
            order(&["native"]),
            [vec![Native], none.clone(), none.clone()]
        );
        assert_eq!(
            order(&["native", "wasm", "--repeat", "2"]),
            [vec![Native, Wasm], none.clone(), none]
        );
    }
}
