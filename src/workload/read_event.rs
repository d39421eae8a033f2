//! Reads an event: what stands behind a key of a phase.

use std::borrow::Cow;

use super::read::{Reader, Result};
use super::task::Event;
use super::text::Key;
use crate::model::units::Ns;

/// The keyword an event's key begins with.
#[derive(Clone, Copy)]
pub(super) enum Word {
    Run,
    Runtime,
    Sleep,
    Timer,
    Lock,
    LockTimed,
    Unlock,
    Wait,
    Signal,
    Broad,
    Sync,
    Barrier,
    Suspend,
    Resume,
    SemPost,
    SemWait,
    Yield,
    Fork,
    Mem,
    IoRun,
}

/// A word stands before every word it begins with.
pub(super) const WORDS: [(&str, Word); 20] = [
    ("runtime", Word::Runtime),
    ("run", Word::Run),
    ("sleep", Word::Sleep),
    ("lock_timed", Word::LockTimed),
    ("lock", Word::Lock),
    ("unlock", Word::Unlock),
    ("timer", Word::Timer),
    ("wait", Word::Wait),
    ("signal", Word::Signal),
    ("broad", Word::Broad),
    ("sync", Word::Sync),
    ("barrier", Word::Barrier),
    ("suspend", Word::Suspend),
    ("resume", Word::Resume),
    ("sem_post", Word::SemPost),
    ("sem_wait", Word::SemWait),
    ("yield", Word::Yield),
    ("fork", Word::Fork),
    ("mem", Word::Mem),
    ("iorun", Word::IoRun),
];

/// The object that some events have for a value.
#[derive(Default)]
struct Details<'t> {
    reference: Option<Cow<'t, str>>,
    mutex: Option<Cow<'t, str>>,
    period: Option<Ns>,
    timeout: Option<Ns>,
    absolute: Option<bool>,
}

impl<'t> Reader<'t> {
    pub(super) fn event(&mut self, word: Word, key: &Key<'t>, task: &str) -> Result<Event> {
        Ok(match word {
            Word::Run => Event::Run(self.time(key)?),
            Word::Runtime => Event::Runtime(self.time(key)?),
            Word::Sleep => Event::Sleep(self.time(key)?),
            Word::Lock => Event::Lock(self.lock(key)?),
            Word::Unlock => Event::Unlock(self.lock(key)?),
            Word::LockTimed => {
                let details = self.details(key)?;
                let (Some(lock), Some(timeout)) = (details.reference, details.timeout) else {
                    let message = "expected \"ref\" and \"timeout\" in it";
                    return Err(self.text.error(key.at, message.to_owned()));
                };
                let lock = self.locks.of(lock);
                Event::LockTimed { lock, timeout }
            }
            Word::Wait | Word::Sync => {
                let details = self.details(key)?;
                let reference = details.reference.unwrap_or(Cow::Borrowed("unknown"));
                let condition = self.conditions.of(reference);
                self.slept_on.insert(condition);
                let mutex = details.mutex.map(|name| self.locks.of(name));
                if matches!(word, Word::Wait) {
                    Event::Wait { condition, mutex }
                } else {
                    Event::Sync { condition, mutex }
                }
            }
            Word::Signal => Event::Signal(self.condition(key)?),
            Word::Broad => Event::Broad(self.condition(key)?),
            Word::Suspend => {
                let name = if key.bare {
                    Cow::Borrowed("")
                } else {
                    self.text.name("a name in quotes")?
                };
                // workgen puts the task's own name where none is given.
                let name = if name.is_empty() {
                    Cow::Owned(task.to_owned())
                } else {
                    name
                };
                let condition = self.conditions.of(name);
                self.slept_on.insert(condition);
                Event::Suspend(condition)
            }
            Word::Resume => {
                let condition = self.condition(key)?;
                if !self.resumed.contains_key(&condition) {
                    self.resumed.insert(condition, self.text.path());
                }
                Event::Resume(condition)
            }
            Word::Barrier => {
                let name = self.named(key, "a barrier name in quotes")?;
                Event::Barrier(self.barriers.of(name))
            }
            Word::SemPost | Word::SemWait => {
                let name = self.named(key, "a semaphore name in quotes")?;
                let semaphore = self.semaphores.of(name);
                if matches!(word, Word::SemPost) {
                    Event::SemPost(semaphore)
                } else {
                    Event::SemWait(semaphore)
                }
            }
            Word::Timer => {
                let details = self.details(key)?;
                let name = details.reference.unwrap_or(Cow::Borrowed("unknown"));
                let timer = self.timers.of(name);
                // One absolute use makes the timer absolute: rt-app keeps the mode with it.
                if details.absolute == Some(true) {
                    self.absolute.insert(timer);
                }
                let period = details.period.unwrap_or(Ns(0));
                Event::Timer { timer, period }
            }
            Word::Yield => {
                self.skip(key)?;
                Event::Yield
            }
            Word::Fork => {
                let expected = "the name of a task in quotes";
                self.value(key, expected)?;
                let at = self.text.at();
                let name = self.text.name(expected)?;
                let fork = self.forks.of(name);
                if self.fork_at.len() <= fork as usize {
                    self.fork_at.push((at, self.text.path()));
                }
                Event::Fork(fork)
            }
            Word::Mem => Event::Mem(self.bytes(key, 1)?),
            Word::IoRun => Event::IoRun(self.bytes(key, 2)?),
        })
    }

    fn named(&mut self, key: &Key<'t>, expected: &str) -> Result<Cow<'t, str>> {
        self.value(key, expected)?;
        self.text.name(expected)
    }

    fn lock(&mut self, key: &Key<'t>) -> Result<u32> {
        let name = self.named(key, "a lock name in quotes")?;
        Ok(self.locks.of(name))
    }

    fn condition(&mut self, key: &Key<'t>) -> Result<u32> {
        let name = self.named(key, "a name in quotes")?;
        Ok(self.conditions.of(name))
    }

    /// The bytes of `mem` and `iorun`, with a notice once a task and kind.
    fn bytes(&mut self, key: &Key<'t>, kind: u8) -> Result<u64> {
        let expected = "a number of bytes, 0 or more";
        self.value(key, expected)?;
        let bytes = self.text.integer(expected, 0, i64::MAX)?;
        let task = self.out.tasks.len();
        if self.bytes_noted.0 != task {
            self.bytes_noted = (task, 0);
        }
        if self.bytes_noted.1 & kind == 0 {
            self.bytes_noted.1 |= kind;
            self.notice("memory and I/O load are not modelled; the event takes no time");
        }
        Ok(bytes as u64)
    }

    /// The object of `timer`, `wait`, `sync` or `lock_timed`.
    fn details(&mut self, key: &Key<'t>) -> Result<Details<'t>> {
        let expected = "an object with \"ref\"";
        self.value(key, expected)?;
        let mut items = self.text.object(expected)?;
        let mut details = Details::default();
        while let Some(key) = self.text.key(&mut items)? {
            match &*key.name {
                "ref" => details.reference = Some(self.named(&key, "a name in quotes")?),
                "mutex" => details.mutex = Some(self.named(&key, "a lock name in quotes")?),
                "period" => details.period = Some(self.time(&key)?),
                "timeout" => details.timeout = Some(self.time(&key)?),
                "mode" => {
                    let expected = "\"relative\" or \"absolute\"";
                    self.value(&key, expected)?;
                    let at = self.text.at();
                    details.absolute = Some(match &*self.text.string(expected)? {
                        "relative" => false,
                        "absolute" => true,
                        _ => return Err(self.text.unexpected(at, expected)),
                    });
                }
                _ => self.unknown(&key)?,
            }
        }
        Ok(details)
    }
}
