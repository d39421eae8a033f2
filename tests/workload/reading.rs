//! What is read as rt-app reads it, what is said of what is not modelled, and the bounds.

use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::machine::Protocol;
use reweight_lab::model::pi::Variant;
use reweight_lab::model::task::Policy;
use reweight_lab::model::units::Ns;
use reweight_lab::workload::{Event, Options, Window, Workload, bounds};

fn read(text: &str) -> Workload {
    Workload::parse(text, "f").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refused(text: &str) -> String {
    Workload::parse(text, "f")
        .expect_err("a mistake")
        .to_string()
}

fn task(body: &str) -> Workload {
    read(&format!(
        r#"{{"tasks":{{"t":{{{body}}}}},"global":{{"duration":1}}}}"#
    ))
}

#[test]
fn relaxed_json_is_the_same_as_strict_json() {
    let strict = read(
        r#"{"tasks":{"t":{"loop":1,"cpus":[0],"run":5,"suspend":"t"}},"global":{"pi_enabled":true,"duration":1}}"#,
    );
    let relaxed = read(
        "\u{feff}// a comment\n{ /* and\n another */ 'tasks' : { \"\\u0074\": { \"loop\" : 1, \"cpus\": [ 0, ],\n\
         'run': 5, // inside\n \"suspend\", }, }, \"global\": { \"pi_enabled\": TRUE, \"duration\": 1, }, } // end",
    );
    assert_eq!(relaxed, strict);
}

#[test]
fn parts_may_stand_in_any_order() {
    let last = read(
        r#"{"tasks":{"t":{"priority":7,"run":1}},"global":{"default_policy":"SCHED_RR","duration":1}}"#,
    );
    let first = read(
        r#"{"global":{"duration":1,"default_policy":"SCHED_RR"},"tasks":{"t":{"run":1,"priority":7}}}"#,
    );
    assert_eq!(last, first);
    assert_eq!(
        last.tasks[0].asked.expect("asked").scheduling.rt_priority,
        7
    );
}

/// A file may write its text with line breaks in strings, and with pairs of surrogates.
#[test]
fn strings_are_unescaped_as_json_c_does() {
    let w = read("{\"tasks\":{\"a\\u00e9\\ud83d\\ude00\\ud800x\\n\\/\nb\":{\"run\":1}}}");
    assert_eq!(w.tasks[0].name, "a\u{e9}\u{1f600}\u{fffd}x\n/\nb");
}

#[test]
fn repeated_events_stay_in_order_and_repeated_settings_count_once() {
    let w = task(r#""loop":1,"run":1,"sleep":2,"run":3,"loop":9"#);
    let us = |n: u64| Ns(n * 1000);
    assert_eq!(
        w.tasks[0].phases[0].events,
        [Event::Run(us(1)), Event::Sleep(us(2)), Event::Run(us(3))]
    );
    assert_eq!(w.tasks[0].phases[0].rounds, Some(1));
    assert_eq!(
        w.notices,
        ["tasks.t.loop: this key was there before; the first one counts"]
    );
}

#[test]
fn a_repeated_task_or_phase_is_another_one_with_a_number() {
    let w = read(
        r#"{"tasks":{"t":{"run":1},"t":{"phases":{"p":{"run":1},"p":{"run":2}}}},"global":{"duration":1}}"#,
    );
    assert_eq!(w.tasks[1].name, "t1");
    assert_eq!(w.tasks[1].phases[1].name, "p1");
    assert_eq!(
        w.notices,
        ["tasks.t: a task of this name was there before; this one is called t1"]
    );
}

#[test]
fn priorities_have_the_meaning_and_the_default_of_their_policy() {
    let start = |body: &str| {
        let w = task(body);
        let asked = w.start_of(&w.tasks[0]);
        (asked.scheduling.policy, asked.priority())
    };
    assert_eq!(start(r#""run":1"#), (Policy::Normal, 0));
    assert_eq!(start(r#""run":1,"priority":-20"#), (Policy::Normal, -20));
    assert_eq!(
        start(r#""run":1,"policy":"SCHED_BATCH","priority":19"#),
        (Policy::Batch, 19)
    );
    assert_eq!(
        start(r#""run":1,"policy":"SCHED_IDLE","priority":5"#),
        (Policy::Idle, 5)
    );
    assert_eq!(
        start(r#""run":1,"policy":"SCHED_FIFO""#),
        (Policy::Fifo, 10)
    );
    assert_eq!(
        start(r#""run":1,"policy":"SCHED_RR","priority":99"#),
        (Policy::Rr, 99)
    );
}

#[test]
fn dl_runtime_of_a_fair_task_is_its_slice_and_of_a_deadline_task_its_budget() {
    let fair = task(r#""run":1,"dl-runtime":5000"#);
    assert_eq!(
        fair.tasks[0].asked.expect("asked").scheduling.slice,
        Some(Ns(5_000_000))
    );
    let dl = task(r#""run":1,"policy":"SCHED_DEADLINE","dl-runtime":10000,"dl-period":30000"#);
    let asked = dl.tasks[0].asked.expect("asked");
    assert_eq!(asked.scheduling.deadline, Ns(30_000_000));
    assert_eq!(asked.scheduling.slice, None);
}

#[test]
fn a_file_without_an_end_runs_ten_seconds_or_up_to_its_last_window() {
    let endless = read(r#"{"tasks":{"t":{"run":1}},"global":{"duration":-1}}"#);
    let scenario = endless.build(&Options::default()).expect("built");
    assert_eq!(scenario.duration, Ns::from_secs(10));
    assert_eq!(
        scenario.notices,
        ["duration: the workload has no end; the run stops after ten seconds"]
    );
    let windows =
        read(r#"{"tasks":{"t":{"run":1}},"lab":{"windows":[{"name":"w","from":1,"to":3000000}]}}"#);
    assert_eq!(
        windows.build(&Options::default()).expect("built").duration,
        Ns::from_secs(3)
    );
}

#[test]
fn the_lab_s_duration_wins_and_may_have_nanoseconds() {
    let w =
        read(r#"{"tasks":{"t":{"run":1}},"global":{"duration":5},"lab":{"duration":1500000.25}}"#);
    assert_eq!(w.duration, Some(Ns(1_500_000_250)));
}

/// Every notice: what is written, and what is said.
#[test]
fn what_is_not_modelled_is_said_with_key_and_task() {
    let rows: &[(&str, &str)] = &[
        (
            r#""run":1,"mem":5"#,
            "tasks.t.mem: memory and I/O load are not modelled; the event takes no time",
        ),
        (
            r#""run":1,"iorun1":5"#,
            "tasks.t.iorun1: memory and I/O load are not modelled; the event takes no time",
        ),
        (
            r#""run":1,"memrun":5"#,
            "tasks.t.memrun: memory and I/O load are not modelled; the event takes no time",
        ),
        (
            r#""run":1,"taskgroup":"/a""#,
            "tasks.t.taskgroup: task groups are not modelled; the task stays in the root group",
        ),
        (
            r#""run":1,"util_min":5"#,
            "tasks.t.util_min: utilisation clamps are not modelled; the CPU has one speed",
        ),
        (
            r#""run":1,"util_max":5"#,
            "tasks.t.util_max: utilisation clamps are not modelled; the CPU has one speed",
        ),
        (
            r#""run":1,"nodes_membind":[0]"#,
            "tasks.t.nodes_membind: NUMA is not modelled",
        ),
        (
            r#""run":1,"lock_order":["a"]"#,
            "tasks.t.lock_order: a key from before rt-app 1.0; it is not read",
        ),
        (
            r#""run":1,"resources":{}"#,
            "tasks.t.resources: a key from before rt-app 1.0; it is not read",
        ),
        (
            r#""exec":1"#,
            "tasks.t.exec: a key from before rt-app 1.0; it is not read",
        ),
        (
            r#""run":1,"colour":"red""#,
            "tasks.t.colour: this key is not known; it is not read",
        ),
        (
            r#""run":1,"timer":{"ref":"x","peroid":1}"#,
            "tasks.t.timer.peroid: this key is not known; it is not read",
        ),
        (
            r#""run":1,"cpus":[1,3]"#,
            "tasks.t.cpus: a task stays on one CPU here, this one on the first named, CPU1",
        ),
        (
            r#""cpus":[1],"phases":{"p":{"cpus":[0],"run":1}}"#,
            "tasks.t.phases.p.cpus: a task stays on one CPU here, this one on CPU1",
        ),
        (
            r#""run":1,"phases":{"p":{"run":1}}"#,
            "tasks.t.run: beside \"phases\" this is not read",
        ),
        (
            r#""loop":0,"phases":{"p":{"run":1}}"#,
            "tasks.t.loop: with 0 rounds the task does nothing",
        ),
        (
            r#""run":1,"resume":"x""#,
            "tasks.t.resume: nobody suspends or waits as \"x\"; it wakes nobody",
        ),
        (
            r#""run":1,"policy":"SCHED_DEADLINE","dl-runtime":1"#,
            "tasks.t: SCHED_DEADLINE is modelled as a class above real time, ordered by deadline; its bandwidth is not",
        ),
    ];
    for (body, expected) in rows {
        assert_eq!(task(body).notices, [*expected], "{body}");
    }
    let whole: &[(&str, &str)] = &[
        (
            r#""resources":{"m":{}}"#,
            "resources: rt-app has made resources from the events since 1.0; what stands here is not read",
        ),
        (
            r#""comment":1"#,
            "comment: this key is not known; it is not read",
        ),
        (
            r#""global":{"spacing":5}"#,
            "global.spacing: this key is not known; it is not read",
        ),
        (
            r#""lab":{"kernal":"6.1"}"#,
            "lab.kernal: this key is not known; it is not read",
        ),
        (
            r#""lab":{"locks":{"X":"none"}}"#,
            "lab.locks.X: no task takes this lock",
        ),
    ];
    for (entry, expected) in whole {
        let w = read(&format!(r#"{{"tasks":{{"t":{{"run":1}}}},{entry}}}"#));
        assert_eq!(w.notices, [*expected], "{entry}");
    }
}

/// How the tool logs and calibrates has no effect on what is simulated.
#[test]
fn keys_without_effect_here_are_passed_over_in_silence() {
    let w = read(
        r#"{"tasks":{"t":{"run":1}},"global":{"duration":1,"calibration":"CPU1","lock_pages":true,
        "logdir":"./","log_basename":"x","log_size":"file","ftrace":"main,task","gnuplot":true,
        "io_device":"/dev/null","mem_buffer_size":1,"cumulative_slack":false,"frag":1}}"#,
    );
    assert!(w.notices.is_empty(), "{:?}", w.notices);
}

#[test]
fn notices_past_the_bound_are_counted() {
    let keys: Vec<String> = (0..bounds::NOTICES + 5)
        .map(|n| format!("\"x{n}\":1"))
        .collect();
    let w = task(&format!("\"run\":1,{}", keys.join(",")));
    assert_eq!(w.notices.len(), bounds::NOTICES + 1);
    assert_eq!(w.notices[bounds::NOTICES], "more notices: 5");
}

#[test]
fn locks_inherit_as_global_and_lab_say() {
    let protocols = |text: &str| {
        let w = read(text);
        let scenario = w.build(&Options::default()).expect("built");
        (
            w.pi_enabled,
            w.locks[0].protocol,
            scenario
                .names
                .lock(scenario.names.find_lock("M").expect("M"))
                .to_owned(),
        )
    };
    let tasks = r#""tasks":{"t":{"lock":"M","run":1}}"#;
    assert_eq!(
        protocols(&format!("{{{tasks}}}")),
        (false, None, "M".to_owned())
    );
    assert_eq!(
        protocols(&format!(
            r#"{{{tasks},"global":{{"pi_enabled":true}},"lab":{{"locks":{{"M":"none"}}}}}}"#
        )),
        (true, Some(Protocol::None), "M".to_owned())
    );
}

#[test]
fn cpus_online_is_what_the_file_names_unless_it_is_said() {
    let online = |text: &str, option: Option<u32>| {
        let options = Options {
            cpus_online: option,
            ..Options::default()
        };
        read(text)
            .build(&options)
            .map(|s| s.machine.settings().cpus_online)
            .map_err(|e| e.to_string())
    };
    assert_eq!(online(r#"{"tasks":{"t":{"run":1}}}"#, None), Ok(1));
    let two = r#"{"tasks":{"t":{"cpus":[1],"run":1}}}"#;
    assert_eq!(online(two, None), Ok(2));
    assert_eq!(online(two, Some(8)), Ok(8));
    assert_eq!(
        online(two, Some(1)),
        Err(
            "f: cpus_online: the workload names CPU1, which is beyond the 1 CPUs online".to_owned()
        )
    );
    assert_eq!(
        online(r#"{"tasks":{"t":{"cpus":[0,3],"run":1}}}"#, None),
        Ok(4)
    );
    assert_eq!(
        online(r#"{"tasks":{"t":{"run":1}},"lab":{"cpus_online":4}}"#, None),
        Ok(4)
    );
}

#[test]
fn options_go_before_the_file_and_the_file_before_the_defaults() {
    let text = r#"{"tasks":{"t":{"run":1}},"lab":{"kernel":"6.1","hz":250,"pi":"reweight","fair_group_sched":false,
        "resched_delay_ns":1900,"rt_throttle":false,"tick_phase_ns":7,"irq_cost_ns":9}}"#;
    let default = *read(r#"{"tasks":{"t":{"run":1}}}"#)
        .build(&Options::default())
        .expect("built")
        .machine
        .settings();
    assert_eq!(
        (default.kernel, default.hz, default.pi),
        (Kernel::V6_12, 1000, Variant::Stock)
    );
    assert!(default.fair_group_sched && default.rt_throttle);
    let file = *read(text)
        .build(&Options::default())
        .expect("built")
        .machine
        .settings();
    assert_eq!(
        (file.kernel, file.hz, file.pi),
        (Kernel::V6_1, 250, Variant::Reweight)
    );
    assert_eq!((file.fair_group_sched, file.rt_throttle), (false, false));
    assert_eq!(
        (file.resched_delay, file.tick_phase, file.irq_cost),
        (Ns(1900), Ns(7), Ns(9))
    );
    let options = Options {
        kernel: Some(Kernel::V6_6),
        hz: Some(100),
        pi: Some(Variant::None),
        ..Options::default()
    };
    let asked = *read(text)
        .build(&options)
        .expect("built")
        .machine
        .settings();
    assert_eq!(
        (asked.kernel, asked.hz, asked.pi),
        (Kernel::V6_6, 100, Variant::None)
    );
}

fn window(name: &str, from: u64, to: u64) -> Window {
    Window {
        name: name.to_owned(),
        from: Ns(from),
        to: Ns(to),
    }
}

#[test]
fn windows_are_added_replaced_cut_left_out_and_refused() {
    let w = read(
        r#"{"tasks":{"t":{"run":1}},"lab":{"duration":10,"windows":[{"name":"a","from":1,"to":5},{"name":"b","from":6,"to":20}]}}"#,
    );
    let build = |duration: Option<u64>, windows: Vec<Window>| {
        let options = Options {
            duration: duration.map(Ns),
            windows,
            ..Options::default()
        };
        w.build(&options)
            .map(|s| (s.windows, s.notices))
            .map_err(|e| e.to_string())
    };
    let cut = "windows.b: the window is cut at the end of the run".to_owned();
    let a = window("a", 1000, 5000);
    let b = window("b", 6000, 10_000);
    assert_eq!(
        build(None, vec![]),
        Ok((vec![a.clone(), b.clone()], vec![cut.clone()]))
    );
    let new = window("a", 2000, 3000);
    assert_eq!(
        build(None, vec![new.clone(), window("c", 0, 1)]),
        Ok((vec![new, b, window("c", 0, 1)], vec![cut]))
    );
    // A run that is made shorter leaves out what it does not reach.
    let left_out = "windows.b: the window begins when the run has ended; it is left out".to_owned();
    assert_eq!(build(Some(6000), vec![]), Ok((vec![a], vec![left_out])));
    let outside = Err("f: windows.c: the window begins when the run has ended".to_owned());
    assert_eq!(build(None, vec![window("c", 10_000, 11_000)]), outside);
    assert_eq!(build(Some(6000), vec![window("c", 6000, 7000)]), outside);
    assert_eq!(
        build(None, vec![window("c", 5, 5)]),
        Err("f: windows.c: the window ends where it begins or before".to_owned())
    );
}

#[test]
fn without_windows_there_is_one_of_the_whole_run() {
    let scenario = task(r#""run":1"#)
        .build(&Options::default())
        .expect("built");
    assert_eq!(scenario.windows, [window("all", 0, 1_000_000_000)]);
    assert!(!scenario.windows_given);
}

#[test]
fn options_that_do_not_fit_are_one_sentence() {
    let w = task(r#""run":1"#);
    let refuse = |options: &Options| w.build(options).expect_err("refused").to_string();
    let hz = Options {
        hz: Some(50),
        ..Options::default()
    };
    assert_eq!(
        refuse(&hz),
        "f: hz: expected one of 100, 250, 300 and 1000, found 50"
    );
    let cpus = Options {
        cpus_online: Some(0),
        ..Options::default()
    };
    assert_eq!(
        refuse(&cpus),
        "f: cpus_online: expected a number of CPUs from 1 to 256, found 0"
    );
    let long = Options {
        duration: Some(Ns::from_secs(604_801)),
        ..Options::default()
    };
    assert_eq!(
        refuse(&long),
        "f: duration: expected a duration above 0 and at most 604800 seconds"
    );
    let phase = read(r#"{"tasks":{"t":{"run":1}},"lab":{"tick_phase_ns":1000000}}"#);
    assert_eq!(
        phase
            .build(&Options::default())
            .expect_err("refused")
            .to_string(),
        "f: tick_phase_ns: expected less than a tick, which is 1000000 ns, found 1000000"
    );
}

#[test]
fn a_slice_on_a_kernel_that_has_none_is_said() {
    let w = task(r#""run":1,"dl-runtime":5000"#);
    let options = Options {
        kernel: Some(Kernel::V6_1),
        ..Options::default()
    };
    assert_eq!(
        w.build(&options).expect("built").notices,
        ["tasks.t.dl-runtime: kernel 6.1 has no slices of a task's own"]
    );
    assert!(
        w.build(&Options::default())
            .expect("built")
            .notices
            .is_empty()
    );
}

#[test]
fn instances_run_under_numbered_names() {
    let w = read(
        r#"{"tasks":{"a":{"instance":2,"run":1},"b":{"run":1},"c":{"instance":0,"run":1}},"global":{"duration":1}}"#,
    );
    let s = w.build(&Options::default()).expect("built");
    assert_eq!(s.names.all_tasks(&s.machine), ["a-0", "a-1", "b"]);
    assert_eq!(s.names.find_task("a-1").map(|t| t.0), Some(1));
    assert_eq!(s.names.find_task("a"), None);
}

#[test]
fn forks_are_named_after_their_task_and_counted_on() {
    let w = read(
        r#"{"tasks":{"a":{"loop":1,"fork":"c","fork":"c","fork":"a2","runtime":1000},
        "c":{"instance":0,"loop":1,"sleep":1000},"a2":{"instance":2,"loop":1,"sleep":1000}},"global":{"duration":1}}"#,
    );
    let s = w.build(&Options::default()).expect("built");
    let mut machine = s.machine.clone();
    machine
        .run_until(s.duration, &mut ())
        .expect("a run that goes on");
    let names = s.names.all_tasks(&machine);
    assert_eq!(names, ["a", "a2-0", "a2-1", "c", "c-1", "a2-2"]);
    for (n, name) in names.iter().enumerate() {
        let id = s.names.find_task_in(&machine, name).expect("found");
        assert_eq!(id.index(), n);
        assert_eq!(s.names.task(&machine, id), *name);
    }
}

#[test]
fn controls_of_several_instances_reach_all_or_one() {
    let w = read(
        r#"{"tasks":{"a":{"instance":2,"run":1000}},"global":{"duration":1},
        "lab":{"controls":[{"at":10,"task":"a","nice":5},{"at":20,"task":"a-1","nice":7},
        {"at":30,"task":"a-1","policy":"SCHED_BATCH"},{"at":40.5,"task":"a-0","policy":"SCHED_FIFO"},{"at":50,"pi":"reweight"}]}}"#,
    );
    let s = w.build(&Options::default()).expect("built");
    let mut m = s.machine.clone();
    let mut at = |us: u64| {
        m.run_until(Ns::from_us(us), &mut ())
            .expect("a run that goes on");
        let tasks = m.tasks();
        let state: Vec<_> = tasks.iter().map(|t| (t.policy(), t.nice())).collect();
        (state, m.settings().pi)
    };
    use Policy::{Batch, Fifo, Normal};
    assert_eq!(at(10).0, [(Normal, 0), (Normal, 0)]);
    assert_eq!(at(20).0, [(Normal, 5), (Normal, 5)]);
    assert_eq!(at(30).0, [(Normal, 5), (Normal, 7)]);
    // A policy without a priority keeps the nice level in force.
    assert_eq!(at(40).0, [(Normal, 5), (Batch, 7)]);
    assert_eq!(at(50), (vec![(Fifo, 5), (Batch, 7)], Variant::Stock));
    assert_eq!(at(51).1, Variant::Reweight);
}

#[test]
fn what_is_over_a_bound_is_refused_by_its_name_and_value() {
    let nested = |depth: usize| {
        let open = "[".repeat(depth);
        let close = "]".repeat(depth);
        format!(r#"{{"x":{open}{close},"tasks":{{"t":{{"run":1}}}}}}"#)
    };
    assert!(Workload::parse(&nested(bounds::NESTING - 1), "f").is_ok());
    let deep = refused(&nested(bounds::NESTING));
    assert!(
        deep.ends_with("more than 32 levels of nesting, which is the bound"),
        "{deep}"
    );
    // A stranger's nesting must not use up the stack.
    assert!(
        refused(&nested(1_000_000)).ends_with("more than 32 levels of nesting, which is the bound")
    );

    let name = "n".repeat(bounds::NAME + 1);
    for text in [
        format!(r#"{{"tasks":{{"{name}":{{"run":1}}}}}}"#),
        format!(r#"{{"tasks":{{"t":{{"lock":"{name}"}}}}}}"#),
        format!(
            r#"{{"tasks":{{"t":{{"run":1}}}},"lab":{{"windows":[{{"name":"{name}","from":0,"to":1}}]}}}}"#
        ),
    ] {
        assert!(
            refused(&text).ends_with("more than 256 bytes in a name, which is the bound"),
            "{text}"
        );
    }
    let title = "n".repeat(bounds::PROSE + 1);
    let text = format!(r#"{{"tasks":{{"t":{{"run":1}}}},"lab":{{"title":"{title}"}}}}"#);
    assert!(refused(&text).ends_with("more than 4096 bytes in a text, which is the bound"));

    let tasks = format!(
        r#"{{"tasks":{{"a":{{"instance":{},"run":1}},"b":{{"run":1}}}}}}"#,
        bounds::TASKS
    );
    assert!(refused(&tasks).ends_with("tasks.b: more than 100000 tasks, which is the bound"));

    let windows: Vec<_> = (0..=bounds::WINDOWS)
        .map(|n| format!(r#"{{"name":"{n}","from":0,"to":1}}"#))
        .collect();
    let text = format!(
        r#"{{"tasks":{{"t":{{"run":1}}}},"lab":{{"windows":[{}]}}}}"#,
        windows.join(",")
    );
    assert!(refused(&text).ends_with("more than 1000 windows, which is the bound"));

    let controls = vec![r#"{"at":0,"pi":"stock"}"#; bounds::ENTRIES + 1].join(",");
    let text = format!(r#"{{"tasks":{{"t":{{"run":1}}}},"lab":{{"controls":[{controls}]}}}}"#);
    assert!(refused(&text).ends_with("more than 100000 controls, which is the bound"));
}

#[test]
fn events_are_bounded_with_those_of_instances_that_need_their_own() {
    let events = r#""run":1,"#.repeat(bounds::EVENTS);
    let most = format!(r#"{{"tasks":{{"t":{{{events}}}}}}}"#);
    assert!(Workload::parse(&most, "f").is_ok());
    let over = format!(r#"{{"tasks":{{"t":{{{events}"run":1}}}}}}"#);
    assert!(refused(&over).ends_with("tasks.t.run: more than 2000000 events, which is the bound"));
    let events = r#""run":1,"#.repeat(20);
    let own =
        format!(r#"{{"tasks":{{"t":{{"instance":100000,"timer":{{"ref":"unique"}},{events}}}}}}}"#);
    assert!(
        refused(&own).contains("more than 2000000 events"),
        "{}",
        refused(&own)
    );
}

/// The page of documentation begins with a workload, and shows a message.
#[test]
fn the_documentation_s_examples_are_true() {
    let page = include_str!("../../docs/workload.md");
    let example = page
        .split("```json\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("an example");
    let workload = read(example);
    assert!(workload.notices.is_empty(), "{:?}", workload.notices);
    assert_eq!(workload.tasks.len(), 3);
    let text = r#"{"tasks":{"low":{"phases":{"hold":{"lock":7}}}}}"#;
    let message = Workload::parse(text, "pi.json")
        .expect_err("a mistake")
        .message;
    assert!(page.contains(&message), "{message}");
}
