//! What a run of tests told.
use anyhow::{Result, bail};

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failed {
    /// Where it is: a file of the project.
    pub place: String,
    /// Its name, as `--only` finds it.
    pub name: String,
}

/// One run of a step's tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    /// The full names of all that ran.
    pub ran: Vec<String>,
    /// Those that failed.
    pub failed: Vec<Failed>,
    /// What went wrong besides: a compiler's error, a program that died.
    pub trouble: Vec<String>,
}

impl Tested {
    /// Whether all went well.
    pub fn green(&self) -> bool {
        self.failed.is_empty() && self.trouble.is_empty()
    }

    /// The failure in a clause.
    pub fn told(&self) -> String {
        let mut parts = self.trouble.clone();
        match self.failed.len() {
            0 => {}
            1 => parts.insert(0, "1 test failed".into()),
            count => parts.insert(0, format!("{count} tests failed")),
        }
        parts.join("; ")
    }

    /// Refuses a choice that chose nothing: it would prove nothing, and look green.
    pub fn check(&self, only: &[String]) -> Result<()> {
        // Where tests did not come to run, that is told instead.
        if self.trouble.is_empty()
            && let Some(text) = only
                .iter()
                .find(|text| !self.ran.iter().any(|name| name.contains(text.as_str())))
        {
            bail!("no test's name contains {text:?}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_chose_nothing_is_refused() {
        let mut tested = Tested {
            ran: vec!["walk::deep".into()],
            ..Tested::default()
        };
        let only = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        assert!(tested.check(&only(&["deep"])).is_ok());
        assert!(tested.check(&[]).is_ok());
        let error = tested.check(&only(&["deep", "wide"])).unwrap_err();
        assert_eq!(error.to_string(), "no test's name contains \"wide\"");
        tested.trouble.push("the tests do not compile".into());
        assert!(tested.check(&only(&["wide"])).is_ok());
    }
}
