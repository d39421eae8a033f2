//! What holds for every workload: it reads back as it was, and no text does harm.

use proptest::prelude::*;
use reweight_lab::model::units::{Ns, TaskId};
use reweight_lab::workload::{Options, Workload, presets};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "M", "end", "unique1", "t0"]).prop_map(str::to_owned),
        1 => "[ -~\u{0}-\u{1f}\u{e9}\u{202e}]{0,12}",
    ]
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

fn event() -> impl Strategy<Value = String> {
    let time = prop_oneof![Just(0u64), 1..2_000_000u64, Just(1_000_000_000_000)];
    let pair = |word: &'static str| {
        (name(), prop::option::of(name())).prop_map(move |(c, m)| {
            let m = m.map_or(String::new(), |m| format!(", \"mutex\": {}", quoted(&m)));
            format!("\"{word}\": {{ \"ref\": {}{m} }}", quoted(&c))
        })
    };
    let timed = prop::sample::select(vec!["run", "runtime", "sleep", "mem", "iorun"]);
    let named = prop::sample::select(vec![
        "lock", "unlock", "signal", "broad", "barrier", "suspend", "resume", "sem_post",
        "sem_wait", "yield",
    ]);
    prop_oneof![
        (timed, time.clone()).prop_map(|(w, t)| format!("\"{w}\": {t}")),
        (named, name()).prop_map(|(w, n)| format!("\"{w}_x\": {}", quoted(&n))),
        Just("\"suspend\"".to_owned()),
        Just("\"fork\": \"t0\"".to_owned()),
        pair("wait"),
        pair("sync"),
        (name(), time.clone(), any::<bool>()).prop_map(|(n, t, absolute)| {
            let mode = if absolute { "absolute" } else { "relative" };
            format!(
                "\"timer\": {{ \"ref\": {}, \"period\": {t}, \"mode\": \"{mode}\" }}",
                quoted(&n)
            )
        }),
        (name(), time).prop_map(|(n, t)| {
            format!(
                "\"lock_timed\": {{ \"ref\": {}, \"timeout\": {t} }}",
                quoted(&n)
            )
        }),
    ]
}

fn scheduling() -> impl Strategy<Value = String> {
    let fair = prop::sample::select(vec!["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE"]);
    prop_oneof![
        3 => Just(String::new()),
        2 => (1..=19i32).prop_map(|n| format!("\"priority\": {n},")),
        2 => (fair, -20..=19i32, 0..9u32).prop_map(|(p, n, slice)| {
            format!("\"policy\": \"{p}\", \"priority\": {n}, \"dl-runtime\": {slice},")
        }),
        1 => (1..=99i32).prop_map(|n| format!("\"policy\": \"SCHED_FIFO\", \"priority\": {n},")),
        1 => Just("\"policy\": \"SCHED_RR\",".to_owned()),
        1 => (0..9u32, 0..9u32).prop_map(|(r, p)| {
            format!("\"policy\": \"SCHED_DEADLINE\", \"dl-runtime\": {r}, \"dl-period\": {p},")
        }),
    ]
}

fn rounds() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (-2..5i32).prop_map(|n| format!("\"loop\": {n},"))
    ]
}

fn phase() -> impl Strategy<Value = String> {
    let until = prop::option::of(0..5_000_000u64);
    (
        rounds(),
        scheduling(),
        until,
        prop::collection::vec(event(), 1..6),
    )
        .prop_map(|(rounds, scheduling, until, events)| {
            let until = until.map_or(String::new(), |t| format!("\"until\": {t},"));
            format!("{rounds} {scheduling} {until} {}", events.join(", "))
        })
}

fn task() -> impl Strategy<Value = String> {
    let body = prop_oneof![
        phase(),
        (rounds(), scheduling(), prop::collection::vec(phase(), 1..4)).prop_map(
            |(r, s, phases)| {
                let phases: Vec<_> = phases.iter().map(|p| format!("\"p\": {{ {p} }}")).collect();
                format!("{r} {s} \"phases\": {{ {} }}", phases.join(", "))
            }
        ),
    ];
    let cpu = prop::option::of(0..3u32);
    (0..4u32, prop::option::of(0..3_000_000u64), cpu, body).prop_map(
        |(instances, delay, cpu, body)| {
            let delay = delay.map_or(String::new(), |t| format!("\"delay\": {t},"));
            let cpu = cpu.map_or(String::new(), |c| format!("\"cpus\": [{c}],"));
            format!("\"instance\": {instances}, {delay} {cpu} {body}")
        },
    )
}

fn lab() -> impl Strategy<Value = String> {
    let time = || (0..20_000_000u64).prop_map(|n| format!("{}.{:03}", n / 1000, n % 1000));
    let control = prop_oneof![
        (time(), -20..=19i32)
            .prop_map(|(at, n)| format!("{{ \"at\": {at}, \"task\": \"first\", \"nice\": {n} }}")),
        time().prop_map(|at| format!(
            "{{ \"at\": {at}, \"task\": \"first\", \"policy\": \"SCHED_BATCH\" }}"
        )),
        time().prop_map(|at| format!("{{ \"at\": {at}, \"task\": \"first\", \"timeout\": {at} }}")),
        time().prop_map(|at| format!("{{ \"at\": {at}, \"task\": \"first\", \"signal\": true }}")),
        time().prop_map(|at| format!("{{ \"at\": {at}, \"pi\": \"reweight\" }}")),
    ];
    let kernel = prop::sample::select(vec!["6.1", "6.6", "6.12", "6.13", "6.18"]);
    let pi = prop::sample::select(vec![
        "none",
        "stock",
        "reweight",
        "reweight-v2",
        "reweight-fixed",
        "proxy-exec",
    ]);
    (
        kernel,
        pi,
        prop::collection::vec(control, 0..4),
        prop::option::of(time()),
        prop::option::of(name()),
        any::<bool>(),
    )
        .prop_map(|(kernel, pi, controls, window, title, flag)| {
            let window = window.map_or(String::new(), |from| {
                format!("\"windows\": [ {{ \"name\": \"w\", \"from\": {from}, \"to\": 30000 }} ],")
            });
            let title = title.map_or(String::new(), |t| format!("\"title\": {},", quoted(&t)));
            let locks = if flag { "\"locks\": { \"M\": \"none\", \"a\": \"inherit\" }," } else { "" };
            format!(
                "\"kernel\": \"{kernel}\", \"pi\": \"{pi}\", {window} {title} {locks} \"rt_throttle\": {flag}, \
                 \"controls\": [ {} ], \"duration\": 40000.5",
                controls.join(", ")
            )
        })
}

fn workload() -> impl Strategy<Value = String> {
    let policy = prop::sample::select(vec!["SCHED_OTHER", "SCHED_FIFO", "SCHED_BATCH"]);
    (policy, any::<bool>(), prop::collection::vec(task(), 0..4), lab()).prop_map(|(policy, pi, tasks, lab)| {
        let tasks: Vec<_> = tasks.iter().enumerate().map(|(n, t)| format!("\"t{n}\": {{ {t} }},")).collect();
        format!(
            "{{ \"lab\": {{ {lab} }}, \"tasks\": {{ \"first\": {{ \"priority\": 1, \"loop\": 3, \"runtime\": 1000 }}, \
             {} \"t0\": {{ \"instance\": 0, \"loop\": 1, \"run\": 5 }} }}, \
             \"global\": {{ \"default_policy\": \"{policy}\", \"pi_enabled\": {pi} }} }}",
            tasks.concat()
        )
    })
}

/// Where a run has come to, in numbers that tell runs apart.
fn outcome(workload: &Workload) -> (Vec<u64>, u64, u64) {
    let scenario = workload
        .build(&Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let mut machine = scenario.machine;
    // A loop that takes no time stalls in both or in none.
    let stalled = machine.run_until(scenario.duration.min(Ns::from_ms(40)), &mut ());
    let end = stalled.map_or_else(|s| s.at.0, |()| 0);
    let cpu = (0..machine.tasks().len())
        .map(|n| machine.cpu_time(TaskId(n as u32)).0)
        .collect();
    (cpu, machine.decisions(), end)
}

/// All but the notices: what is not read is not written, so it is not said again.
fn without_notices(mut workload: Workload) -> Workload {
    workload.notices.clear();
    workload
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back_as_it_was(text in workload()) {
        let read = Workload::parse(&text, "f").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let json = read.to_json();
        let strict: serde_json::Value = serde_json::from_str(&json).expect("strict JSON");
        prop_assert!(strict["tasks"].is_object());
        let back = Workload::parse(&json, "f").unwrap_or_else(|e| panic!("{e}\n{json}"));
        prop_assert_eq!(without_notices(back.clone()), without_notices(read));
        prop_assert_eq!(back.to_json(), json);
    }

    #[test]
    fn any_text_is_read_or_is_one_error(text in "[\\{\\}\\[\\]\",:/*' a-z0-9\\\\u\u{e9}\n.-]{0,200}") {
        match Workload::parse(&text, "f") {
            Ok(_) => {}
            Err(e) => prop_assert!(e.line > 0 && e.column > 0 && !e.message.contains('\n')),
        }
    }

    #[test]
    fn a_spoilt_preset_is_read_or_is_one_error(
        n in 0..presets::ALL.len(),
        spoilt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = presets::ALL[n].text.as_bytes().to_vec();
        for (at, byte) in spoilt {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        match Workload::from_bytes(&bytes, "f") {
            // What the reader lets through must build.
            Ok(w) => { w.build(&Options::default()).unwrap_or_else(|e| panic!("{e}")); }
            Err(e) => prop_assert!(e.line > 0 && e.column > 0),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_runs_as_it_did(text in workload()) {
        // Threads forked without end cost time without telling more.
        let text = text.replace("\"fork\": \"t0\"", "\"run\": 1");
        let read = Workload::parse(&text, "f").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let back = Workload::parse(&read.to_json(), "f").unwrap_or_else(|e| panic!("{e}"));
        prop_assert_eq!(outcome(&back), outcome(&read));
    }

    #[test]
    fn an_edited_workload_reads_back_as_it_was(
        n in 0..presets::ALL.len(),
        edits in prop::collection::vec((0..6u8, -20..=19i32, 0..9_000_000_000u64), 1..8),
    ) {
        let mut w = Workload::parse(presets::ALL[n].text, "f").unwrap_or_else(|e| panic!("{e}"));
        for (k, (what, nice, at)) in edits.into_iter().enumerate() {
            let of: Vec<String> = w.tasks.iter().map(|t| t.name.clone()).collect();
            let task = &of[at as usize % of.len()];
            // An edit that is refused must leave everything as it was.
            let before = w.clone();
            let done = match what {
                0 => w.set_start_nice(task, nice),
                1 => w.add_control(Ns(at), reweight_lab::workload::Action::Nice { task: task.clone(), nice }),
                2 => w.add_spinner(&format!("more{k}"), nice, Ns(at)),
                3 => w.remove_task(task),
                4 => w.rename_task(task, &format!("new{k}")),
                _ => w.set_start_policy(task, "SCHED_BATCH", nice),
            };
            if done.is_err() {
                prop_assert_eq!(&w, &before);
            }
        }
        let back = Workload::parse(&w.to_json(), "f").unwrap_or_else(|e| panic!("{e}"));
        prop_assert_eq!(without_notices(back), without_notices(w.clone()));
        w.build(&Options::default()).unwrap_or_else(|e| panic!("{e}"));
    }
}
