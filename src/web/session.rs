//! Two rows on one workload: `a` is the stock kernel, `b` the chosen variant.
//!
//! A change at time zero is a start value, a later one a control from then on; either way both
//! rows run again. Two runs of ten seconds take a few milliseconds, so nothing is patched up.

use std::borrow::Cow;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use super::row::scenario;
use super::values::*;
use super::why::{cause_id, rule_id};
use crate::model::kernel::{HZ, Kernel, QueueKind};
use crate::model::machine::Machine;
use crate::model::observer::{Event, LockEvent, Observer, QueueView};
use crate::model::pi::Variant;
use crate::model::task::Policy;
use crate::model::units::{CpuId, LockId, Ns, TaskId};
use crate::trace::report::{Shares, TaskShare, WindowReport};
use crate::trace::{Mark, Run, What, simulate};
use crate::workload::{Action, Change, Workload};

/// Changes that can be taken back.
const UNDO: usize = 200;

/// One row: its run, and the machine at its start to look into it again.
pub(super) struct Row {
    pub variant: Variant,
    pub run: Run,
    pub start: Machine,
    pub names: Vec<String>,
}

/// A property of a plain object the page gave; nothing where it is not set.
fn given(options: &JsValue, key: &str) -> Option<JsValue> {
    let value = js_sys::Reflect::get(options, &JsValue::from_str(key)).ok()?;
    (!value.is_undefined() && !value.is_null()).then_some(value)
}

fn number(value: &JsValue, what: &str) -> Result<f64, JsValue> {
    value
        .as_f64()
        .ok_or_else(|| message(&format!("option {what}: expected a number")))
}

fn text(value: &JsValue, what: &str) -> Result<String, JsValue> {
    value
        .as_string()
        .ok_or_else(|| message(&format!("option {what}: expected a text")))
}

#[derive(Clone)]
struct Chosen {
    workload: Workload,
    pi: Variant,
}

/// A session of the page.
#[wasm_bindgen]
pub struct Session {
    loaded: Chosen,
    chosen: Chosen,
    undo: Vec<Chosen>,
    redo: Vec<Chosen>,
    pub(super) rows: [Row; 2],
}

/// Sees the queue of every CPU at the latest decision of one instant.
struct AtDecision {
    at: Ns,
    view: Option<QueueView>,
}

impl Observer for AtDecision {
    fn event(&mut self, machine: &Machine, event: &Event) {
        if let Event::Pick(pick) = event
            && machine.now() == self.at
        {
            self.view = Some(machine.queue_view(pick.cpu));
        }
    }
}

fn run_row(chosen: &Chosen, variant: Variant) -> Result<Row, JsValue> {
    let scenario = scenario(&chosen.workload, variant)?;
    let start = scenario.machine.clone();
    let run = simulate(scenario, true).map_err(|e| message(&e.to_string()))?;
    let names = crate::trace::unique_names(&run.machine, &run.names);
    Ok(Row {
        variant,
        run,
        start,
        names,
    })
}

fn run_rows(chosen: &Chosen) -> Result<[Row; 2], JsValue> {
    Ok([
        run_row(chosen, Variant::Stock)?,
        run_row(chosen, chosen.pi)?,
    ])
}

fn named<T>(found: Option<T>, what: &str, name: &str, expected: &str) -> Result<T, JsValue> {
    found.ok_or_else(|| {
        message(&format!(
            "{what} {name:?} is not known: expected {expected}"
        ))
    })
}

fn kernel_named(name: &str) -> Result<Kernel, JsValue> {
    named(
        Kernel::named(name),
        "kernel",
        name,
        "6.1, 6.6, 6.12, 6.13 or 6.18",
    )
}

fn variant_named(name: &str) -> Result<Variant, JsValue> {
    let expected = "none, stock, reweight, reweight-v2, reweight-fixed or proxy-exec";
    named(Variant::named(name), "variant", name, expected)
}

fn checked_hz(hz: u32) -> Result<u32, JsValue> {
    named(
        HZ.contains(&hz).then_some(hz),
        "HZ",
        &hz.to_string(),
        "100, 250, 300 or 1000",
    )
}

fn checked_cpus(n: u32) -> Result<u32, JsValue> {
    let ok = (1..=1024).contains(&n).then_some(n);
    named(ok, "number of online CPUs", &n.to_string(), "1 to 1024")
}

#[wasm_bindgen]
impl Session {
    /// Reads a workload and runs both rows.
    ///
    /// # Errors
    /// A plain object: the workload's first mistake with its place, or an option that is not known.
    #[wasm_bindgen(constructor)]
    pub fn new(workload: &str, file: &str, options: JsValue) -> Result<Session, JsValue> {
        let mut workload = Workload::parse(workload, file).map_err(|e| error(&e))?;
        // Start values that the row to compare with would overrule.
        let own = workload.pi.filter(|v| *v != Variant::Stock);
        let loaded = Chosen {
            workload: workload.clone(),
            pi: own.unwrap_or(Variant::Reweight),
        };
        let mut pi = loaded.pi;
        if let Some(name) = given(&options, "kernel") {
            workload.kernel = Some(kernel_named(&text(&name, "kernel")?)?);
        }
        if let Some(hz) = given(&options, "hz") {
            workload.hz = Some(checked_hz(number(&hz, "hz")? as u32)?);
        }
        if let Some(n) = given(&options, "cpus_online") {
            workload.cpus_online = Some(checked_cpus(number(&n, "cpus_online")? as u32)?);
        }
        if let Some(name) = given(&options, "pi") {
            pi = variant_named(&text(&name, "pi")?)?;
        }
        if let Some(nice) = given(&options, "nice") {
            for entry in js_sys::Object::entries(nice.unchecked_ref()).iter() {
                let entry = js_sys::Array::from(&entry);
                let task = text(&entry.get(0), "nice")?;
                let nice = number(&entry.get(1), "nice")? as i32;
                workload
                    .set_start_nice(&task, nice)
                    .map_err(|e| error(&e))?;
            }
        }
        if let Some(duration) = given(&options, "duration_ns") {
            workload.duration = Some(ns(number(&duration, "duration_ns")?));
        }
        let chosen = Chosen { workload, pi };
        let rows = run_rows(&chosen)?;
        Ok(Session {
            loaded,
            chosen,
            undo: Vec::new(),
            redo: Vec::new(),
            rows,
        })
    }

    /// What the session is: title, tasks, settings, windows, edits.
    ///
    /// # Errors
    /// None but a failure to make the object.
    pub fn info(&self) -> Result<JsValue, JsValue> {
        let w = &self.chosen.workload;
        let row = &self.rows[1];
        let settings = row.start.settings();
        let holder = self.holder();
        let waiter = self.waiter();
        let machine = &row.run.machine;
        let tasks = machine
            .tasks()
            .iter()
            .enumerate()
            .map(|(i, task)| {
                let name = row.names[i].clone();
                let role = if Some(&name) == holder.as_ref() {
                    "holder"
                } else if Some(&name) == waiter.as_ref() {
                    "waiter"
                } else {
                    "other"
                };
                let asked = w.task(&name).map(|t| w.start_of(t).scheduling);
                let nice = asked.map_or(task.nice(), |s| s.nice);
                let policy = asked.map_or(task.policy(), |s| s.policy);
                let weight = asked.map_or(task.weight(), |s| s.load().table_weight());
                TaskValue {
                    id: i as u32,
                    name,
                    policy: policy.name(),
                    nice,
                    rt_priority: asked.map_or(0, |s| s.rt_priority),
                    cpu: task.cpu().0,
                    weight,
                    role,
                }
            })
            .collect();
        let edits = w
            .controls
            .iter()
            .map(|c| {
                let mut edit = EditValue {
                    at_ns: c.at.0,
                    task: c.action.task().map(str::to_owned),
                    nice: None,
                    policy: None,
                    priority: None,
                    pi: None,
                };
                match &c.action {
                    Action::Nice { nice, .. } => edit.nice = Some(*nice),
                    Action::Policy {
                        policy, priority, ..
                    } => {
                        edit.policy = Some(policy.name());
                        edit.priority = *priority;
                    }
                    Action::Pi(variant) => edit.pi = Some(variant.name()),
                    Action::Timeout { .. } | Action::Signal { .. } => {}
                }
                edit
            })
            .collect();
        to_js(&Info {
            format: 1,
            title: w.title.clone(),
            question: w.question.clone(),
            look: w.look.clone(),
            kernel: settings.kernel.name,
            kernels: Kernel::ALL
                .iter()
                .map(|k| KernelValue {
                    name: k.name,
                    from_patches: k.from_patches,
                })
                .collect(),
            hz: settings.hz,
            cpus_online: settings.cpus_online,
            pi: self.chosen.pi.name(),
            variants: Variant::ALL.iter().map(|v| v.name()).collect(),
            duration_ns: row.run.report.duration_ns,
            holder,
            waiter,
            tasks,
            locks: row
                .run
                .names
                .locks()
                .iter()
                .enumerate()
                .map(|(i, name)| LockValue {
                    id: i as u32,
                    name: name.clone(),
                })
                .collect(),
            windows: row
                .run
                .report
                .windows
                .iter()
                .map(|w| WindowValue {
                    name: w.name.clone(),
                    from_ns: w.from_ns,
                    to_ns: w.to_ns,
                })
                .collect(),
            notices: row.run.report.notices.clone(),
            edits,
        })
    }

    /// A task's nice level, from an instant on (0: from the start).
    ///
    /// # Errors
    /// An unknown task, or a level outside -20..19.
    pub fn set_nice(&mut self, task: &str, nice: i32, at_ns: f64) -> Result<(), JsValue> {
        let task = task.to_owned();
        self.change(|chosen| {
            let w = &mut chosen.workload;
            if at_ns <= 0.0 {
                return w.set_start_nice(&task, nice).map_err(|e| error(&e));
            }
            let at = ns(at_ns);
            w.controls.retain(|c| {
                !(c.at == at && matches!(&c.action, Action::Nice { task: t, .. } if *t == task))
            });
            w.add_control(at, Action::Nice { task, nice })
                .map_err(|e| error(&e))
        })
    }

    /// A task's policy and priority, from an instant on (0: from the start).
    ///
    /// # Errors
    /// An unknown task or policy, or a priority the policy does not have.
    pub fn set_policy(
        &mut self,
        task: &str,
        policy: &str,
        priority: i32,
        at_ns: f64,
    ) -> Result<(), JsValue> {
        const ALL: [Policy; 5] = [
            Policy::Normal,
            Policy::Batch,
            Policy::Idle,
            Policy::Fifo,
            Policy::Rr,
        ];
        let expected = "SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO or SCHED_RR";
        let found = ALL.into_iter().find(|p| p.name() == policy);
        let policy = named(found, "policy", policy, expected)?;
        let task = task.to_owned();
        self.change(|chosen| {
            let w = &mut chosen.workload;
            if at_ns <= 0.0 {
                return w
                    .set_start_policy(&task, policy.name(), priority)
                    .map_err(|e| error(&e));
            }
            let at = ns(at_ns);
            w.controls.retain(|c| {
                !(c.at == at && matches!(&c.action, Action::Policy { task: t, .. } if *t == task))
            });
            let action = Action::Policy {
                task,
                policy,
                priority: Some(priority),
            };
            w.add_control(at, action).map_err(|e| error(&e))
        })
    }

    /// The variant of row b, from an instant on (0: from the start).
    ///
    /// # Errors
    /// An unknown variant.
    pub fn set_pi(&mut self, variant: &str, at_ns: f64) -> Result<(), JsValue> {
        let variant = variant_named(variant)?;
        self.change(|chosen| {
            if at_ns <= 0.0 {
                chosen.pi = variant;
                return Ok(());
            }
            let at = ns(at_ns);
            let w = &mut chosen.workload;
            w.controls
                .retain(|c| !(c.at == at && matches!(c.action, Action::Pi(_))));
            w.controls.push(Change {
                at,
                action: Action::Pi(variant),
            });
            Ok(())
        })
    }

    /// The kernel of both rows.
    ///
    /// # Errors
    /// An unknown kernel.
    pub fn set_kernel(&mut self, name: &str) -> Result<(), JsValue> {
        let kernel = kernel_named(name)?;
        self.change(|chosen| {
            chosen.workload.kernel = Some(kernel);
            Ok(())
        })
    }

    /// Ticks a second.
    ///
    /// # Errors
    /// Not one of 100, 250, 300, 1000.
    pub fn set_hz(&mut self, hz: u32) -> Result<(), JsValue> {
        let hz = checked_hz(hz)?;
        self.change(|chosen| {
            chosen.workload.hz = Some(hz);
            Ok(())
        })
    }

    /// Online CPUs: they scale the tunables.
    ///
    /// # Errors
    /// Not 1 to 1024, or fewer than the workload names.
    pub fn set_cpus_online(&mut self, n: u32) -> Result<(), JsValue> {
        let n = checked_cpus(n)?;
        self.change(|chosen| {
            chosen.workload.cpus_online = Some(n);
            Ok(())
        })
    }

    /// A task that does nothing but compute.
    ///
    /// # Errors
    /// A name that is taken or too long, a level outside -20..19.
    pub fn add_task(&mut self, name: &str, nice: i32) -> Result<(), JsValue> {
        self.change(|c| {
            c.workload
                .add_spinner(name, nice, Ns(0))
                .map_err(|e| error(&e))
        })
    }

    /// Takes a task away.
    ///
    /// # Errors
    /// An unknown task, or one that others need.
    pub fn remove_task(&mut self, name: &str) -> Result<(), JsValue> {
        self.change(|c| c.workload.remove_task(name).map_err(|e| error(&e)))
    }

    /// Gives a task another name.
    ///
    /// # Errors
    /// An unknown task, a name that is taken or too long.
    pub fn rename_task(&mut self, old: &str, name: &str) -> Result<(), JsValue> {
        self.change(|c| c.workload.rename_task(old, name).map_err(|e| error(&e)))
    }

    /// Takes the last change back; false when there is none.
    ///
    /// # Errors
    /// None but a failure to run what ran before.
    pub fn undo(&mut self) -> Result<bool, JsValue> {
        let Some(before) = self.undo.pop() else {
            return Ok(false);
        };
        self.rows = run_rows(&before)?;
        self.redo.push(std::mem::replace(&mut self.chosen, before));
        Ok(true)
    }

    /// Makes the change again that was taken back last; false when there is none, or when
    /// something else was changed since.
    ///
    /// # Errors
    /// None but a failure to run what ran before.
    pub fn redo(&mut self) -> Result<bool, JsValue> {
        let Some(after) = self.redo.pop() else {
            return Ok(false);
        };
        self.rows = run_rows(&after)?;
        self.undo.push(std::mem::replace(&mut self.chosen, after));
        Ok(true)
    }

    /// Makes one step of the last two changes: a dragged slider is one change.
    pub fn merge_undo(&mut self) {
        self.undo.pop();
    }

    /// How many changes can be taken back, and how many made again.
    pub fn undo_depth(&self) -> Vec<u32> {
        vec![self.undo.len() as u32, self.redo.len() as u32]
    }

    /// The workload as it was loaded.
    ///
    /// # Errors
    /// None but a failure to run what ran before.
    pub fn reset(&mut self) -> Result<(), JsValue> {
        let loaded = self.loaded.clone();
        self.change(|chosen| {
            *chosen = loaded;
            Ok(())
        })
    }

    /// Both rows' windows, cut at an instant if one is given.
    ///
    /// # Errors
    /// None but a failure to make the object.
    pub fn runs(&self, until_ns: Option<f64>) -> Result<JsValue, JsValue> {
        let value = |i: usize| {
            let row = &self.rows[i];
            RunValue {
                row: ["a", "b"][i],
                pi: row.variant.name(),
                windows: row.windows(until_ns.map(ns)),
            }
        };
        to_js(&[value(0), value(1)])
    }

    /// How everybody spent a stretch of time.
    ///
    /// # Errors
    /// None but a failure to make the object.
    pub fn range(&self, row: usize, from_ns: f64, to_ns: f64) -> Result<JsValue, JsValue> {
        let row = self.row(row)?;
        let Some(recording) = &row.run.recording else {
            return Ok(JsValue::NULL);
        };
        let to = ns(to_ns).min(row.run.machine.now());
        let from = ns(from_ns).min(to);
        let range = recording.range(from, to, row.run.machine.cpus());
        let length = to.saturating_sub(from).0;
        let tasks = range.tasks.iter().enumerate().map(|(i, t)| {
            let share = TaskShare::new(t.spent.run, length, t.spent.switches, t.longest_wait).share;
            let value = RangeTask {
                run_ns: t.spent.run,
                wait_ns: t.spent.wait,
                blocked_ns: t.spent.blocked,
                sleep_ns: t.sleep,
                switches: t.spent.switches,
                max_wait_ns: t.longest_wait,
                share,
            };
            (row.names[i].clone(), value)
        });
        to_js(&RangeValue {
            tasks: Named(tasks.collect()),
            idle_ns: range.idle,
        })
    }

    /// What a task did: flat triples of start (ns), state (0 running, 1 runnable, 2 blocked,
    /// 3 sleeping, 4 ended) and lock (-1: none).
    ///
    /// # Errors
    /// No such row.
    pub fn segments(
        &self,
        row: usize,
        task: u32,
        from_ns: f64,
        to_ns: f64,
    ) -> Result<Vec<f64>, JsValue> {
        let row = self.row(row)?;
        let mut flat = Vec::new();
        if let Some(recording) = &row.run.recording
            && (task as usize) < recording.tasks()
        {
            for s in recording.segments(TaskId(task), ns(from_ns), ns(to_ns)) {
                let lock = s.lock.map_or(-1.0, |l| f64::from(l.0));
                flat.extend([s.at.0 as f64, f64::from(s.doing as u8), lock]);
            }
        }
        Ok(flat)
    }

    /// Boosts, deboosts, renices, switches of the variant and what happened to locks.
    ///
    /// # Errors
    /// No such row.
    pub fn marks(&self, row: usize) -> Result<JsValue, JsValue> {
        let row = self.row(row)?;
        let marks: Vec<MarkValue> = match &row.run.recording {
            Some(recording) => recording
                .marks(Ns(0), Ns::NEVER)
                .iter()
                .filter_map(|mark| row.mark(mark))
                .collect(),
            None => Vec::new(),
        };
        to_js(&marks)
    }

    /// A task's share of the CPU in the window before each of some instants.
    ///
    /// # Errors
    /// No such row.
    pub fn share_curve(
        &self,
        row: usize,
        task: u32,
        from_ns: f64,
        to_ns: f64,
        window_ns: f64,
        points: usize,
    ) -> Result<Vec<f32>, JsValue> {
        let row = self.row(row)?;
        let points = points.min(100_000);
        Ok(match &row.run.recording {
            Some(r) if (task as usize) < r.tasks() => {
                r.share_curve(TaskId(task), ns(from_ns), ns(to_ns), ns(window_ns), points)
            }
            _ => Vec::new(),
        })
    }

    /// The closed form at an instant: the task's weight by the weights of all who can run there.
    ///
    /// # Errors
    /// No such row.
    pub fn ideal_share(&self, row: usize, at_ns: f64, task: u32) -> Result<f64, JsValue> {
        let row = self.row(row)?;
        let machine = row.at(ns(at_ns));
        let Some(own) = machine.tasks().get(task as usize) else {
            return Ok(0.0);
        };
        let view = machine.queue_view(own.cpu());
        let sum: u64 = view
            .entities
            .iter()
            .filter(|e| !e.delayed)
            .map(|e| u64::from(e.weight))
            .sum();
        let queued = view.entities.iter().any(|e| e.task.0 == task && !e.delayed);
        Ok(if queued && sum > 0 {
            f64::from(own.weight()) / sum as f64
        } else {
            0.0
        })
    }

    /// The first decision after an instant, ns; the end of the run when there is none.
    ///
    /// # Errors
    /// No such row.
    pub fn next_decision(&self, row: usize, at_ns: f64) -> Result<f64, JsValue> {
        let row = self.row(row)?;
        let next = row
            .run
            .recording
            .as_ref()
            .and_then(|r| r.next_decision(ns(at_ns)));
        Ok(next.map_or(row.run.machine.now(), |d| d.at).0 as f64)
    }

    /// The last decision before an instant, ns; zero when there is none.
    ///
    /// # Errors
    /// No such row.
    pub fn prev_decision(&self, row: usize, at_ns: f64) -> Result<f64, JsValue> {
        let row = self.row(row)?;
        let prev = row
            .run
            .recording
            .as_ref()
            .and_then(|r| r.previous_decision(ns(at_ns)));
        Ok(prev.map_or(0.0, |d| d.at.0 as f64))
    }

    /// The fair queue at an instant, of the holder's CPU.
    ///
    /// # Errors
    /// No such row.
    pub fn queue(&self, row: usize, at_ns: f64) -> Result<JsValue, JsValue> {
        let row = self.row(row)?;
        let machine = row.at(ns(at_ns));
        let view = machine.queue_view(self.holder_cpu());
        let entities = view.entities.iter().map(|e| {
            let task = machine.task(e.task);
            EntityValue {
                task: e.task.0,
                name: row.names[e.task.index()].clone(),
                current: e.current,
                vruntime: e.vruntime,
                deadline: e.deadline,
                lag: e.lag,
                eligible: e.eligible,
                protected: e.protected,
                delayed: e.delayed,
                weight: e.weight,
                slice: e.slice,
                pr: task.prio() - 100,
                ni: task.nice(),
            }
        });
        let eevdf = row.start.settings().kernel.queue == QueueKind::Eevdf;
        to_js(&QueueValue {
            v: view.v,
            kind: if eevdf { "eevdf" } else { "cfs" },
            entities: entities.collect(),
        })
    }

    /// The decision at or before an instant, and the last change of the holder's prio before it.
    ///
    /// # Errors
    /// No such row.
    pub fn why(&self, row: usize, at_ns: f64) -> Result<JsValue, JsValue> {
        let row = self.row(row)?;
        let at = ns(at_ns);
        let Some(recording) = &row.run.recording else {
            return Ok(JsValue::NULL);
        };
        let Some(decision) = recording.decision_at(at) else {
            return Ok(JsValue::NULL);
        };
        let mut seen = AtDecision {
            at: decision.at,
            view: None,
        };
        let mut machine = row.start.clone();
        machine
            .run_until(Ns(decision.at.0 + 1), &mut seen)
            .map_err(|_| message("the run makes no progress"))?;
        let name = |t: Option<TaskId>| t.map_or(String::new(), |t| row.names[t.index()].clone());
        let pick = decision.pick;
        let view = seen.view.map_or(Vec::new(), |v| v.entities);
        let vruntime = view
            .iter()
            .find(|e| Some(e.task) == pick.next)
            .map_or(0, |e| e.vruntime);
        let steps = recording
            .marks(Ns(0), Ns(at.0.saturating_add(1)))
            .iter()
            .rev()
            .find_map(|mark| match mark.what {
                What::SetPrio {
                    donor,
                    old_prio,
                    prio,
                    old_weight,
                    weight,
                    steps,
                } => Some(StepsValue {
                    ran: (1..=11).filter(|&n| steps.ran(n)).collect(),
                    reweight: steps.reweighted(),
                    old_prio,
                    prio,
                    old_weight,
                    weight,
                    task: name(mark.task),
                    donor: donor.map(|d| name(Some(d))),
                    at_ns: mark.at.0,
                }),
                _ => None,
            });
        to_js(&WhyValue {
            at_ns: decision.at.0,
            id: rule_id(pick.rule),
            values: WhyNumbers {
                task: name(pick.next),
                prev: name(pick.prev),
                cause: cause_id(pick.cause),
                count: view.iter().filter(|e| e.eligible).count() as u64,
                vruntime,
            },
            steps,
        })
    }

    /// The session as an rt-app workload: what was moved and switched is in it.
    pub fn workload(&self) -> String {
        let mut w = self.chosen.workload.clone();
        w.pi = Some(self.chosen.pi);
        w.to_json()
    }
}

impl Session {
    pub(super) fn row(&self, row: usize) -> Result<&Row, JsValue> {
        self.rows
            .get(row)
            .ok_or_else(|| message("no such row: expected 0 or 1"))
    }

    /// Runs with the change; if that fails everything stays as it was.
    fn change(
        &mut self,
        f: impl FnOnce(&mut Chosen) -> Result<(), JsValue>,
    ) -> Result<(), JsValue> {
        let mut next = self.chosen.clone();
        f(&mut next)?;
        if next.workload == self.chosen.workload {
            // Only the variant differs: the stock row stands as it is.
            self.rows[1] = run_row(&next, next.pi)?;
        } else {
            self.rows = run_rows(&next)?;
        }
        self.redo.clear();
        self.undo.push(std::mem::replace(&mut self.chosen, next));
        if self.undo.len() > UNDO {
            self.undo.remove(0);
        }
        Ok(())
    }

    /// Whose share is told: what the workload says, else who was boosted in either row.
    fn holder(&self) -> Option<String> {
        self.rows
            .iter()
            .rev()
            .find_map(|row| row.run.holder.clone())
    }

    fn holder_cpu(&self) -> CpuId {
        let row = &self.rows[1];
        let holder = self
            .holder()
            .and_then(|name| row.names.iter().position(|n| *n == name));
        holder.map_or(CpuId(0), |i| row.run.machine.tasks()[i].cpu())
    }

    /// The first task that waits for a lock of the holder.
    fn waiter(&self) -> Option<String> {
        let holder = self.holder();
        self.rows.iter().rev().find_map(|row| {
            let marks = row.run.recording.as_ref()?.marks(Ns(0), Ns::NEVER);
            marks.iter().find_map(|mark| match (mark.task, mark.what) {
                (
                    Some(task),
                    What::Lock {
                        what: LockEvent::Blocked { owner: Some(owner) },
                        ..
                    },
                ) if holder
                    .as_ref()
                    .is_none_or(|h| *h == row.names[owner.index()]) =>
                {
                    Some(row.names[task.index()].clone())
                }
                _ => None,
            })
        })
    }
}

impl Row {
    /// The machine as it was at an instant.
    pub(super) fn at(&self, at: Ns) -> Machine {
        let mut machine = self.start.clone();
        let at = at.max(Ns(1)).min(self.run.machine.now());
        // The whole run has been made before: it does not stall.
        let _ = machine.run_until(at, &mut ());
        machine
    }

    fn windows(&self, until: Option<Ns>) -> Vec<Cow<'_, WindowReport>> {
        let all = self.run.report.windows.iter();
        let (Some(until), Some(recording)) = (until, &self.run.recording) else {
            return all.map(Cow::Borrowed).collect();
        };
        all.filter(|w| w.from_ns < until.0)
            .map(|w| {
                if w.to_ns <= until.0 {
                    return Cow::Borrowed(w);
                }
                let range = recording.range(Ns(w.from_ns), until, self.run.machine.cpus());
                let length = until.0 - w.from_ns;
                let tasks = range.tasks.iter().enumerate().map(|(i, t)| {
                    let share =
                        TaskShare::new(t.spent.run, length, t.spent.switches, t.longest_wait);
                    (self.names[i].clone(), share)
                });
                Cow::Owned(WindowReport {
                    name: w.name.clone(),
                    from_ns: w.from_ns,
                    to_ns: until.0,
                    idle_ns: range.idle,
                    tasks: Shares(tasks.collect()),
                })
            })
            .collect()
    }

    fn mark(&self, mark: &Mark) -> Option<MarkValue> {
        let name = |t: TaskId| self.names[t.index()].clone();
        let lock_name = |l: LockId| self.run.names.lock(l).to_owned();
        let mut value = MarkValue {
            at_ns: mark.at.0,
            task: mark.task.map(name),
            ..MarkValue::default()
        };
        match mark.what {
            What::SetPrio {
                donor,
                old_prio,
                prio,
                old_weight,
                weight,
                ..
            } => {
                value.kind = if prio < old_prio { "boost" } else { "deboost" };
                value.donor = donor.map(name);
                value.old_prio = Some(old_prio);
                value.prio = Some(prio);
                value.old_weight = Some(old_weight);
                value.weight = Some(weight);
            }
            What::Nice { nice, weight, .. } => {
                value.kind = "nice";
                value.nice = Some(nice);
                value.weight = Some(weight);
            }
            What::Scheduler { scheduling, weight } => {
                value.kind = "policy";
                value.nice = Some(scheduling.nice);
                value.weight = Some(weight);
            }
            What::Variant(variant) => {
                value.kind = "variant";
                value.pi = Some(variant.name());
            }
            What::Lock { lock, what } => {
                value.lock = Some(lock_name(lock));
                value.kind = match what {
                    LockEvent::Acquired => "lock",
                    LockEvent::Blocked { .. } => "block",
                    LockEvent::Released { next: Some(next) } => {
                        value.donor = Some(name(next));
                        "handover"
                    }
                    LockEvent::Released { next: None } => "unlock",
                    LockEvent::TimedOut => "timeout",
                    LockEvent::Interrupted => "signal",
                    LockEvent::Deadlock => "deadlock",
                    LockEvent::NotOwner => return None,
                    LockEvent::OwnerDied { .. } => "owner-died",
                };
            }
            What::Spawn { parent } => {
                value.kind = "spawn";
                value.donor = parent.map(name);
            }
            What::Throttled { on, .. } => value.kind = if on { "throttle" } else { "unthrottle" },
            What::Refused(_) => return None,
        }
        Some(value)
    }
}
