//! What a slider, a button or an option does to a workload: each edit, and each refusal.

use reweight_lab::model::task::Policy;
use reweight_lab::model::units::Ns;
use reweight_lab::workload::{Action, Event, Options, Workload};

fn family() -> Workload {
    let text = r#"{"tasks":{
        "low":{"priority":10,"loop":1,"lock":"M","run":5000,"fork":"child","unlock":"M","lock":"N"},
        "twins":{"instance":2,"run":1000},
        "child":{"instance":0,"loop":1,"run":10},
        "fast":{"policy":"SCHED_FIFO","priority":3,"loop":1,"sleep":5}},
        "global":{"duration":1,"pi_enabled":true},
        "lab":{"holder":"low","controls":[{"at":1,"task":"low","nice":5},{"at":2,"task":"twins-1","nice":6}]}}"#;
    Workload::parse(text, "f").unwrap_or_else(|e| panic!("{e}"))
}

fn nice(task: &str, nice: i32) -> Action {
    Action::Nice {
        task: task.to_owned(),
        nice,
    }
}

#[test]
fn a_start_nice_is_set_and_the_policy_stays() {
    let mut w = family();
    w.set_start_nice("low", -20).expect("set");
    w.set_start_nice("child", 3).expect("set");
    assert_eq!(w.start_of(&w.tasks[0]).priority(), -20);
    assert_eq!(w.tasks[2].asked.map(|a| a.scheduling.nice), Some(3));
    w.set_start_policy("low", "SCHED_BATCH", 4).expect("set");
    w.set_start_nice("low", 6).expect("set");
    let start = w.start_of(&w.tasks[0]).scheduling;
    assert_eq!((start.policy, start.nice), (Policy::Batch, 6));
}

#[test]
fn a_control_a_spinner_and_the_switch_read_back_to_the_nanosecond() {
    let mut w = family();
    w.add_control(Ns(1_234_567), nice("twins", -3))
        .expect("added");
    w.add_control(
        Ns(7),
        Action::Pi(reweight_lab::model::pi::Variant::Reweight),
    )
    .expect("added");
    w.add_spinner("more", 0, Ns(1_999)).expect("added");
    let more = w.task("more").expect("there");
    assert_eq!(more.delay, Ns(1_000));
    assert_eq!(more.phases[0].events, [Event::Run(Ns::from_secs(1))]);
    let back = Workload::parse(&w.to_json(), "f").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(back, w);
}

#[test]
fn a_removed_task_takes_its_controls_and_locks_along() {
    let mut w = family();
    w.remove_task("twins").expect("removed");
    assert_eq!(w.controls.len(), 1);
    w.remove_task("low").expect("removed");
    assert!(w.controls.is_empty() && w.locks.is_empty() && w.forks.is_empty());
    assert_eq!(w.holder, None);
    w.build(&Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_new_name_goes_wherever_the_old_one_stood() {
    let mut w = family();
    w.rename_task("low", "slow").expect("renamed");
    w.rename_task("twins", "pair").expect("renamed");
    w.rename_task("child", "kid").expect("renamed");
    assert_eq!(w.holder.as_deref(), Some("slow"));
    assert_eq!(w.controls[0].action, nice("slow", 5));
    assert_eq!(w.controls[1].action, nice("pair-1", 6));
    assert_eq!(w.forks, ["kid"]);
    w.build(&Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn an_edit_that_cannot_be_is_one_sentence_and_changes_nothing() {
    let long = "n".repeat(257);
    type Edit<'a> = Box<dyn Fn(&mut Workload) -> Result<(), reweight_lab::workload::Error> + 'a>;
    let rows: Vec<(Edit, &str)> = vec![
        (
            Box::new(|w| w.set_start_nice("low", 20)),
            "f: tasks.low: expected a nice value in -20..19, found 20",
        ),
        (
            Box::new(|w| w.set_start_nice("nobody", 0)),
            "f: tasks: expected the name of a task, found \"nobody\"",
        ),
        (
            Box::new(|w| w.set_start_nice("fast", 0)),
            "f: tasks.fast: a task of SCHED_FIFO has no nice level to set",
        ),
        (
            Box::new(|w| w.set_start_policy("low", "SCHED_FIFO", 0)),
            "f: tasks.low: expected a real-time priority in 1..99, found 0",
        ),
        (
            Box::new(|w| w.set_start_policy("low", "SCHED_DEADLINE", 0)),
            "f: tasks.low: expected SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO or SCHED_RR",
        ),
        (
            Box::new(|w| w.add_control(Ns(0), nice("low", -21))),
            "f: lab.controls: expected a nice value in -20..19, found -21",
        ),
        (
            Box::new(|w| w.add_control(Ns(0), nice("nobody", 0))),
            "f: lab.controls: expected the name of a task, found \"nobody\"",
        ),
        (
            Box::new(|w| w.add_control(Ns(0), nice("child", 0))),
            "f: lab.controls: expected a task that exists from the start, found \"child\", which only starts when forked",
        ),
        (
            Box::new(|w| w.add_spinner("low", 0, Ns(0))),
            "f: tasks.low: two tasks would run as \"low\"",
        ),
        (
            Box::new(|w| w.add_spinner("twins-0", 0, Ns(0))),
            "f: tasks.twins-0: two tasks would run as \"twins-0\"",
        ),
        (
            Box::new(|w| w.add_spinner("x", 99, Ns(0))),
            "f: tasks: expected a nice value in -20..19, found 99",
        ),
        (
            Box::new(|w| w.add_spinner(&long, 0, Ns(0))),
            "f: tasks: more than 256 bytes in a name, which is the bound",
        ),
        (
            Box::new(|w| w.remove_task("child")),
            "f: tasks.child: \"low\" forks it; it stays",
        ),
        (
            Box::new(|w| w.rename_task("low", "fast")),
            "f: tasks.fast: two tasks would run as \"fast\"",
        ),
        (
            Box::new(|w| w.rename_task("low", &long)),
            "f: tasks.low: more than 256 bytes in a name, which is the bound",
        ),
    ];
    for (edit, expected) in rows {
        let mut w = family();
        let error = edit(&mut w).expect_err(expected);
        assert_eq!(error.to_string(), expected);
        assert_eq!(w, family(), "{expected}");
    }
    let mut one = Workload::parse(r#"{"tasks":{"t":{"run":1}}}"#, "f").expect("read");
    assert_eq!(
        one.remove_task("t").expect_err("the last").to_string(),
        "f: tasks.t: the last task stays"
    );
}
