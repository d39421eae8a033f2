//! Every message of the reader: a row each, with its place.

use reweight_lab::workload::{Workload, presets};

/// Text, and the one error it gives, read as `f`.
#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    // empty
    ("",
     "f:1:1: expected a workload, which begins with '{', found the end of the file"),
    // blank
    (" \n  ",
     "f:2:3: expected a workload, which begins with '{', found the end of the file"),
    // list
    ("[]",
     "f:1:1: expected a workload, which begins with '{', found a list"),
    // word
    ("tasks",
     "f:1:1: expected a workload, which begins with '{', found tasks"),
    // fragment
    (r#"{"global":{"duration":5}}"#,
     r#"f:1:1: no "tasks" in it: this is a part of a workload, to be merged with others"#),
    // no task
    (r#"{"tasks":{}}"#,
     "f:1:10: tasks: expected at least one task"),
    // unclosed
    (r#"{"tasks":{"t":{"run":1}"#,
     "f:1:24: tasks: expected ',' or '}', found the end of the file"),
    // after the end
    (r#"{"tasks":{"t":{"run":1}}} x"#,
     "f:1:27: expected nothing after the workload, found x"),
    // two commas
    (r#"{"tasks":{"t":{"run":1,,"sleep":2}}}"#,
     "f:1:24: tasks.t: expected a key in quotes, found ','"),
    // no comma
    (r#"{"tasks":{"t":{"run":1 "sleep":2}}}"#,
     r#"f:1:24: tasks.t: expected ',' or '}', found "sleep""#),
    // key without quotes
    ("{tasks:{}}",
     "f:1:2: expected a key in quotes, found tasks"),
    // no colon
    (r#"{"tasks" {"t":{}}}"#,
     "f:1:10: tasks: expected ':' after the key, found an object"),
    // wrong close
    (r#"{"tasks":{"t":{"run":1]}}"#,
     "f:1:23: tasks.t: expected ',' or '}', found ']'"),
    // open comment
    (r#"{"tasks":{} /* and so on"#,
     "f:1:13: tasks: expected */ at the end of the comment, found the end of the file"),
    // half a comment
    ("{ / }",
     "f:1:3: expected // or /* to begin a comment, found '/'"),
    // open string
    (r#"{"tasks":{"t"#,
     "f:1:11: tasks: expected a quote at the end of the string, found the end of the file"),
    // unknown escape
    (r#"{"ta\sks":{}}"#,
     r#"f:1:5: expected one of \" \\ \/ \b \f \n \r \t \uXXXX after the backslash"#),
    // short unicode escape
    (r#"{"\u12":1}"#,
     r#"f:1:3: expected four hexadecimal digits after \u"#),
    // hash comment
    ("{\n # no\n \"tasks\":{}}",
     "f:2:2: expected a key in quotes, found '#'"),
    // bare number key
    (r#"{"tasks":{"t":{"run"}}}"#,
     "f:1:21: tasks.t.run: expected ':' and microseconds, a whole number from 0 to 1000000000000, found '}'"),
    // bare policy
    (r#"{"tasks":{"t":{"policy","run":1}}}"#,
     "f:1:24: tasks.t.policy: expected ':' and a policy: SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR or SCHED_DEADLINE, found ','"),
    // bad word
    (r#"{"tasks":{"t":{"run":1,"x":nope}}}"#,
     "f:1:28: tasks.t.x: expected a value, found nope"),
    // bad number
    (r#"{"tasks":{"t":{"run":1,"x":1-x}}}"#,
     "f:1:28: tasks.t.x: expected a number, found 1-x"),
    // tasks is a list
    (r#"{"tasks":[]}"#,
     "f:1:10: tasks: expected an object of tasks, found a list"),
    // task is a number
    (r#"{"tasks":{"t":1}}"#,
     "f:1:15: tasks.t: expected an object that describes a task, found 1"),
    // task alone
    (r#"{"tasks":{"t"}}"#,
     "f:1:14: tasks.t: expected ':' and an object that describes a task, found '}'"),
    // task without events
    (r#"{"tasks":{"t":{"priority":1}}}"#,
     r#"f:1:11: tasks.t: expected at least one event, such as "run""#),
    // phase without events
    (r#"{"tasks":{"t":{"phases":{"p":{"loop":1}}}}}"#,
     r#"f:1:26: tasks.t.phases.p: expected at least one event, such as "run""#),
    // no phases
    (r#"{"tasks":{"t":{"phases":{}}}}"#,
     "f:1:16: tasks.t.phases: expected at least one phase"),
    // phases is a list
    (r#"{"tasks":{"t":{"phases":[]}}}"#,
     "f:1:25: tasks.t.phases: expected an object of phases, found a list"),
    // phase is a number
    (r#"{"tasks":{"t":{"phases":{"p":7}}}}"#,
     "f:1:30: tasks.t.phases.p: expected an object that describes a phase, found 7"),
    // run fraction
    (r#"{"tasks":{"t":{"run":1.5}}}"#,
     "f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found 1.5"),
    // run negative
    (r#"{"tasks":{"t":{"run":-1}}}"#,
     "f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found -1"),
    // run exponent
    (r#"{"tasks":{"t":{"run":1e3}}}"#,
     "f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found 1e3"),
    // run plus
    (r#"{"tasks":{"t":{"run":+1}}}"#,
     "f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found +1"),
    // run text
    (r#"{"tasks":{"t":{"run":"1"}}}"#,
     r#"f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found "1""#),
    // run object
    (r#"{"tasks":{"t":{"run":{}}}}"#,
     "f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found an object"),
    // run too long
    (r#"{"tasks":{"t":{"run":1000000000001}}}"#,
     "f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found 1000000000001"),
    // run huge
    (r#"{"tasks":{"t":{"run":99999999999999999999}}}"#,
     "f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found 99999999999999999999"),
    // sleep hex
    (r#"{"tasks":{"t":{"sleep":0x10}}}"#,
     "f:1:24: tasks.t.sleep: expected microseconds, a whole number from 0 to 1000000000000, found 0x10"),
    // delay negative
    (r#"{"tasks":{"t":{"delay":-1,"run":1}}}"#,
     "f:1:24: tasks.t.delay: expected microseconds, a whole number from 0 to 1000000000000, found -1"),
    // until text
    (r#"{"tasks":{"t":{"until":"9","run":1}}}"#,
     r#"f:1:24: tasks.t.until: expected microseconds, a whole number from 0 to 1000000000000, found "9""#),
    // lock number
    ("{\"tasks\":{\"t\":{\"phases\":{\"hold\":{\n  \"lock\": 7}}}}}",
     "f:2:11: tasks.t.phases.hold.lock: expected a lock name in quotes, found 7"),
    // unlock list
    (r#"{"tasks":{"t":{"unlock":["M"]}}}"#,
     "f:1:25: tasks.t.unlock: expected a lock name in quotes, found a list"),
    // lock_timed text
    (r#"{"tasks":{"t":{"lock_timed":"M"}}}"#,
     r#"f:1:29: tasks.t.lock_timed: expected an object with "ref", found "M""#),
    // lock_timed without timeout
    (r#"{"tasks":{"t":{"lock_timed":{"ref":"M"}}}}"#,
     r#"f:1:16: tasks.t.lock_timed: expected "ref" and "timeout" in it"#),
    // wait text
    (r#"{"tasks":{"t":{"wait":"c"}}}"#,
     r#"f:1:23: tasks.t.wait: expected an object with "ref", found "c""#),
    // wait mutex number
    (r#"{"tasks":{"t":{"wait":{"ref":"c","mutex":1}}}}"#,
     "f:1:42: tasks.t.wait.mutex: expected a lock name in quotes, found 1"),
    // signal number
    (r#"{"tasks":{"t":{"signal":1}}}"#,
     "f:1:25: tasks.t.signal: expected a name in quotes, found 1"),
    // barrier list
    (r#"{"tasks":{"t":{"barrier":[1]}}}"#,
     "f:1:26: tasks.t.barrier: expected a barrier name in quotes, found a list"),
    // sem_post number
    (r#"{"tasks":{"t":{"sem_post":1}}}"#,
     "f:1:27: tasks.t.sem_post: expected a semaphore name in quotes, found 1"),
    // suspend null
    (r#"{"tasks":{"t":{"suspend":null}}}"#,
     "f:1:26: tasks.t.suspend: expected a name in quotes, found null"),
    // resume true
    (r#"{"tasks":{"t":{"resume":true}}}"#,
     "f:1:25: tasks.t.resume: expected a name in quotes, found true"),
    // timer number
    (r#"{"tasks":{"t":{"timer":5}}}"#,
     r#"f:1:24: tasks.t.timer: expected an object with "ref", found 5"#),
    // timer mode
    (r#"{"tasks":{"t":{"timer":{"ref":"x","mode":"soon"}}}}"#,
     r#"f:1:42: tasks.t.timer.mode: expected "relative" or "absolute", found "soon""#),
    // timer period
    (r#"{"tasks":{"t":{"timer":{"ref":"x","period":"1"}}}}"#,
     r#"f:1:44: tasks.t.timer.period: expected microseconds, a whole number from 0 to 1000000000000, found "1""#),
    // fork number
    (r#"{"tasks":{"t":{"fork":1}}}"#,
     "f:1:23: tasks.t.fork: expected the name of a task in quotes, found 1"),
    // fork nobody
    (r#"{"tasks":{"t":{"fork":"nobody"}}}"#,
     r#"f:1:23: tasks.t.fork: expected the name of a task, found "nobody""#),
    // mem negative
    (r#"{"tasks":{"t":{"mem":-1}}}"#,
     "f:1:22: tasks.t.mem: expected a number of bytes, 0 or more, found -1"),
    // loop text
    (r#"{"tasks":{"t":{"loop":"1","run":1}}}"#,
     r#"f:1:23: tasks.t.loop: expected a number of rounds, or -1 for ever, found "1""#),
    // loop too many
    (r#"{"tasks":{"t":{"loop":2147483648,"run":1}}}"#,
     "f:1:23: tasks.t.loop: more than 2147483647 rounds of a loop, which is the bound"),
    // instance negative
    (r#"{"tasks":{"t":{"instance":-1,"run":1}}}"#,
     "f:1:27: tasks.t.instance: expected a number of threads, 0 or more, found -1"),
    // instance too many
    (r#"{"tasks":{"t":{"instance":100001,"run":1}}}"#,
     "f:1:27: tasks.t.instance: more than 100000 tasks, which is the bound"),
    // policy unknown
    (r#"{"tasks":{"t":{"policy":"SCHED_FAST","run":1}}}"#,
     r#"f:1:25: tasks.t.policy: expected a policy: SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR or SCHED_DEADLINE, found "SCHED_FAST""#),
    // nice
    (r#"{"tasks":{"t":{"priority":20,"run":1}}}"#,
     "f:1:27: tasks.t.priority: expected a nice value in -20..19, found 20"),
    // nice low
    (r#"{"tasks":{"t":{"run":1,"priority":-21}}}"#,
     "f:1:35: tasks.t.priority: expected a nice value in -20..19, found -21"),
    // nice in a phase
    (r#"{"tasks":{"t":{"phases":{"p":{"priority":40,"run":1}}}}}"#,
     "f:1:42: tasks.t.phases.p.priority: expected a nice value in -20..19, found 40"),
    // rt priority
    (r#"{"tasks":{"t":{"policy":"SCHED_FIFO","priority":0,"run":1}}}"#,
     "f:1:49: tasks.t.priority: expected a real-time priority in 1..99, found 0"),
    // rt by default
    (r#"{"tasks":{"t":{"priority":100,"run":1}},"global":{"default_policy":"SCHED_RR"}}"#,
     "f:1:27: tasks.t.priority: expected a real-time priority in 1..99, found 100"),
    // priority text
    (r#"{"tasks":{"t":{"priority":"1","run":1}}}"#,
     r#"f:1:27: tasks.t.priority: expected a nice value in -20..19, or a real-time priority in 1..99, found "1""#),
    // dl-runtime
    (r#"{"tasks":{"t":{"dl-runtime":"1","run":1}}}"#,
     r#"f:1:29: tasks.t.dl-runtime: expected microseconds, a whole number from 0 to 1000000000000, found "1""#),
    // cpus number
    (r#"{"tasks":{"t":{"cpus":0,"run":1}}}"#,
     "f:1:23: tasks.t.cpus: expected a list of CPU numbers, found 0"),
    // cpus empty
    (r#"{"tasks":{"t":{"cpus":[],"run":1}}}"#,
     "f:1:23: tasks.t.cpus: expected at least one CPU"),
    // cpus text
    (r#"{"tasks":{"t":{"cpus":["0"],"run":1}}}"#,
     r#"f:1:24: tasks.t.cpus[0]: expected a CPU number, found "0""#),
    // cpus beyond
    (r#"{"tasks":{"t":{"cpus":[256],"run":1}}}"#,
     "f:1:24: tasks.t.cpus[0]: more than 256 CPUs, which is the bound"),
    // cpu not online
    (r#"{"tasks":{"t":{"cpus":[0,2],"run":1}},"lab":{"cpus_online":2}}"#,
     r#"f:1:26: tasks.t.cpus[1]: CPU2 is beyond the 2 CPUs of "cpus_online""#),
    // two names
    (r#"{"tasks":{"a":{"instance":2,"run":1},"a-1":{"run":1}}}"#,
     r#"f:1:38: tasks.a-1: two tasks would run as "a-1""#),
    // global number
    (r#"{"global":1}"#,
     "f:1:11: global: expected an object, found 1"),
    // duration text
    (r#"{"global":{"duration":"1"}}"#,
     r#"f:1:23: global.duration: expected seconds, a whole number up to 604800, or -1 for no end, found "1""#),
    // duration long
    (r#"{"global":{"duration":604801}}"#,
     "f:1:23: global.duration: expected seconds, a whole number up to 604800, or -1 for no end, found 604801"),
    // default policy
    (r#"{"global":{"default_policy":1}}"#,
     "f:1:29: global.default_policy: expected a policy: SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR or SCHED_DEADLINE, found 1"),
    // pi_enabled
    (r#"{"global":{"pi_enabled":1}}"#,
     "f:1:25: global.pi_enabled: expected true or false, found 1"),
    // lab list
    (r#"{"lab":[]}"#,
     "f:1:8: lab: expected an object, found a list"),
    // title
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"title":1}}"#,
     "f:1:52: lab.title: expected a text in quotes, found 1"),
    // kernel
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"kernel":"5.4"}}"#,
     r#"f:1:53: lab.kernel: expected a kernel: "6.1", "6.6", "6.12", "6.13" or "6.18", found "5.4""#),
    // kernel number
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"kernel":6.12}}"#,
     r#"f:1:53: lab.kernel: expected a kernel: "6.1", "6.6", "6.12", "6.13" or "6.18", found 6.12"#),
    // hz
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"hz":999}}"#,
     "f:1:49: lab.hz: expected one of 100, 250, 300 and 1000, found 999"),
    // pi
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"pi":"fast"}}"#,
     r#"f:1:49: lab.pi: expected a variant: "none", "stock", "reweight", "reweight-v2", "reweight-fixed" or "proxy-exec", found "fast""#),
    // cpus_online
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"cpus_online":0}}"#,
     "f:1:58: lab.cpus_online: expected a number of CPUs from 1 to 256, found 0"),
    // lab duration zero
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"duration":0}}"#,
     "f:1:55: lab.duration: expected a duration above 0, found 0"),
    // lab duration four digits
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"duration":1.0001}}"#,
     "f:1:55: lab.duration: expected microseconds from 0 to 1000000000000, with at most three decimals, found 1.0001"),
    // lab duration long
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"duration":604800000001}}"#,
     "f:1:55: lab.duration: more than 604800000000 microseconds of duration, which is the bound"),
    // flag
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"rt_throttle":1}}"#,
     "f:1:58: lab.rt_throttle: expected true or false, found 1"),
    // tick phase
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"tick_phase_ns":-1}}"#,
     "f:1:60: lab.tick_phase_ns: expected nanoseconds, a whole number from 0 to 1000000000, found -1"),
    // holder
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"holder":"nobody"}}"#,
     r#"f:1:53: lab.holder: expected the name of a task, found "nobody""#),
    // holder number
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"holder":1}}"#,
     "f:1:53: lab.holder: expected the name of a task in quotes, found 1"),
    // lock protocol
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"locks":{"M":"protect"}}}"#,
     r#"f:1:57: lab.locks.M: expected "inherit" or "none", found "protect""#),
    // locks list
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"locks":[]}}"#,
     "f:1:52: lab.locks: expected an object of locks, found a list"),
    // controls object
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":{}}}"#,
     "f:1:55: lab.controls: expected a list of controls, found an object"),
    // control number
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[1]}}"#,
     r#"f:1:56: lab.controls[0]: expected an object with "at", found 1"#),
    // control without at
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[{"task":"t","nice":1}]}}"#,
     r#"f:1:56: lab.controls[0]: expected "at" in the control"#),
    // control without change
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[{"at":1,"task":"t"}]}}"#,
     r#"f:1:56: lab.controls[0]: expected one change: "task" with "nice", "policy", "timeout" or "signal", or "pi" alone"#),
    // control with two
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[{"at":1,"task":"t","nice":1,"policy":"SCHED_IDLE"}]}}"#,
     r#"f:1:56: lab.controls[0]: expected one change: "task" with "nice", "policy", "timeout" or "signal", or "pi" alone"#),
    // control without its signal
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[{"at":1,"task":"t","signal":false}]}}"#,
     "f:1:84: lab.controls[0].signal: expected true: a signal that is not sent is no change"),
    // control nice
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[{"at":1,"task":"t","nice":-21}]}}"#,
     "f:1:82: lab.controls[0].nice: expected a nice value in -20..19, found -21"),
    // control priority
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[{"at":1,"task":"t","policy":"SCHED_FIFO","priority":100}]}}"#,
     "f:1:108: lab.controls[0].priority: expected a real-time priority in 1..99, found 100"),
    // control task
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"controls":[{"at":1,"task":"t","nice":1},{"at":1,"task":"u","nice":1}]}}"#,
     r#"f:1:100: lab.controls[1].task: expected the name of a task, found "u""#),
    // control on a fork
    (r#"{"tasks":{"t":{"fork":"c"},"c":{"instance":0,"run":1}},"lab":{"controls":[{"at":1,"task":"c","nice":1}]}}"#,
     r#"f:1:90: lab.controls[0].task: expected a task that exists from the start, found "c", which only starts when forked"#),
    // windows object
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"windows":{}}}"#,
     "f:1:54: lab.windows: expected a list of windows, found an object"),
    // window number
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"windows":[1]}}"#,
     r#"f:1:55: lab.windows[0]: expected an object with "name", "from" and "to", found 1"#),
    // window without to
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"windows":[{"name":"w","from":1}]}}"#,
     r#"f:1:55: lab.windows[0]: expected "name", "from" and "to" in the window"#),
    // window backwards
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"windows":[{"name":"w","from":2,"to":2}]}}"#,
     "f:1:55: lab.windows[0]: the window ends where it begins or before"),
    // window twice
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"windows":[{"name":"w","from":1,"to":2},{"name":"w","from":3,"to":4}]}}"#,
     "f:1:84: lab.windows[1]: a window before it has the same name"),
    // window outside
    (r#"{"tasks":{"t":{"run":1,"lock":"M"}},"lab":{"duration":5,"windows":[{"name":"w","from":5,"to":9}]}}"#,
     "f:1:68: lab.windows[0]: the window begins when the run has ended"),
    // hostile name
    (r#"{"tasks":{"a\u001b[31m\u202eb":{"run":"<b>"}}}"#,
     r#"f:1:39: tasks.a\u001b[31m\u202eb.run: expected microseconds, a whole number from 0 to 1000000000000, found "<b>""#),
    // long found
    (r#"{"tasks":{"t":{"run":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}}"#,
     r#"f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...""#),
    // bom
    ("\u{feff}{\"tasks\":{\"t\":{\"run\":\"1\"}}}",
     r#"f:1:22: tasks.t.run: expected microseconds, a whole number from 0 to 1000000000000, found "1""#),
    // umlaut
    (r#"{"tasks":{"üü":{"run":"1"}}}"#,
     r#"f:1:23: tasks.üü.run: expected microseconds, a whole number from 0 to 1000000000000, found "1""#),
];

#[test]
fn every_mistake_is_named_with_place_expected_and_found() {
    for (text, expected) in ROWS {
        let error = Workload::parse(text, "f").expect_err(text);
        assert_eq!(&error.to_string(), expected, "{text}");
    }
}

#[test]
fn every_row_read_as_bytes_gives_the_same() {
    for (text, expected) in ROWS {
        let error = Workload::from_bytes(text.as_bytes(), "f").expect_err(text);
        assert_eq!(&error.to_string(), expected, "{text}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_stand() {
    let error = Workload::from_bytes(b"{\n \"tasks\": \"\xff\"", "f").expect_err("no UTF-8");
    assert_eq!(
        error.to_string(),
        "f:2:12: expected text in UTF-8, found other bytes"
    );
}

/// A file that a full disk or a lost connection cut off, at any byte: one sentence, with its place.
#[test]
fn a_workload_cut_off_at_any_byte_is_one_mistake_with_line_and_column() {
    let relaxed = "\u{feff}{ // a note\n 'tasks' : { 'größe' : { \"loop\" : 1, /* two\nlines */ \"lock\": \"M\", \"run0\" : 1, \"suspend\", }, },\n}";
    let mut texts = vec![relaxed.to_owned()];
    texts.extend(presets::ALL.iter().map(|p| p.text.to_owned()));
    for file in std::fs::read_dir("tests/data/workloads").expect("the workloads") {
        texts.push(std::fs::read_to_string(file.expect("a file").path()).expect("text"));
    }
    assert!(texts.len() > 40);
    for text in &texts {
        Workload::parse(text, "f").unwrap_or_else(|e| panic!("{e}"));
        let whole = text.trim_end().len();
        for cut in 0..whole {
            let part = &text.as_bytes()[..cut];
            let error = Workload::from_bytes(part, "f").expect_err("a part");
            let lines = part.iter().filter(|&&b| b == b'\n').count() + 1;
            let told = error.to_string();
            assert!(
                error.line >= 1 && error.line as usize <= lines,
                "{cut}: {told}"
            );
            assert!(error.column >= 1, "{cut}: {told}");
            assert!(
                !told.contains('\n') && told.starts_with("f:"),
                "{cut}: {told}"
            );
        }
    }
}

#[test]
fn an_error_is_plain_data() {
    let error = Workload::parse("[]", "f").expect_err("a list");
    let json = serde_json::to_value(&error).expect("JSON");
    assert_eq!(json["file"], "f");
    assert_eq!(json["line"], 1);
    assert_eq!(json["column"], 1);
    assert_eq!(json["path"], "");
    assert!(
        json["message"]
            .as_str()
            .is_some_and(|m| m.starts_with("expected a workload"))
    );
}
