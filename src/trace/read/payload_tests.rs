//! Every kind of payload, as three tools print it.

use super::event::{Off, What};
use super::payload::payload;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn switch(line: &str) -> (String, u32, i32, Off, String, u32, i32) {
    match payload(line.as_bytes()) {
        Ok(What::Switch { prev, off, next }) => (
            text(prev.comm),
            prev.pid,
            prev.prio,
            off,
            text(next.comm),
            next.pid,
            next.prio,
        ),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_switch_reads_the_same_in_every_spelling() {
    let expected = ("low".into(), 30, 130, Off::Runnable, "bg".into(), 31, 120);
    for line in [
        " sched_switch: prev_comm=low prev_pid=30 prev_prio=130 prev_state=R ==> next_comm=bg next_pid=31 next_prio=120",
        " sched_switch: prev_comm=low prev_pid=30 prev_prio=130 prev_state=R+ ==> next_comm=bg next_pid=31 next_prio=120",
        " sched_switch: prev_comm=low prev_pid=30 prev_prio=130 prev_state=0x0 ==> next_comm=bg next_pid=31 next_prio=120",
        "  sched:sched_switch: prev_comm=low prev_pid=30 prev_prio=130 prev_state=R ==> next_comm=bg next_pid=31 next_prio=120",
        " sched_switch:         low:30 [130] R ==> bg:31 [120]",
        " sched:sched_switch: low:30 [130] R ==> bg:31 [120]",
    ] {
        assert_eq!(switch(line), expected, "{line}");
    }
}

#[test]
fn states_are_told_apart() {
    for (state, off) in [
        ("S", Off::Sleeping),
        ("I", Off::Sleeping),
        ("D", Off::Uninterruptible),
        ("D|K", Off::Uninterruptible),
        ("X", Off::Dead),
        ("Z", Off::Dead),
        ("0x1", Off::Sleeping),
        ("0x2", Off::Uninterruptible),
        ("0x100", Off::Runnable),
        ("16", Off::Dead),
    ] {
        let line = format!(
            "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state={state} ==> next_comm=b next_pid=2 next_prio=-1"
        );
        assert_eq!(switch(&line).3, off, "{state}");
    }
}

#[test]
fn names_may_hold_anything_even_fields() {
    for name in [
        "a b",
        "a:b",
        "a=>b",
        "x ==> y",
        "[k]",
        "a prev_pid=1",
        " ==> next_comm=",
        "a:1 [2]",
        "añé",
        "",
        "prev_comm=",
        "  ",
        "a next_pid=1",
    ] {
        let keys = format!(
            "sched_switch: prev_comm={name} prev_pid=30 prev_prio=130 prev_state=S ==> next_comm={name} next_pid=31 next_prio=120"
        );
        let short = format!("sched_switch: {name}:30 [130] S ==> {name}:31 [120]");
        for line in [keys, short] {
            let (prev, pid, _, off, next, pid2, _) = switch(&line);
            assert_eq!((pid, pid2, off), (30, 31, Off::Sleeping), "{line}");
            // Blanks at the line's edge cannot be told from padding.
            assert_eq!(
                (prev.trim(), next.trim()),
                (name.trim(), name.trim()),
                "{line}"
            );
        }
    }
}

#[test]
fn wakes_in_old_and_new_spellings() {
    for (line, new, cpu) in [
        (
            "sched_wakeup: comm=a b pid=5 prio=0 target_cpu=002",
            false,
            Some(2),
        ),
        (
            "sched_wakeup: comm=a b pid=5 prio=0 success=1 target_cpu=002",
            false,
            Some(2),
        ),
        (
            "sched_waking: comm=a b pid=5 prio=0 target_cpu=002",
            false,
            Some(2),
        ),
        (
            "sched_wakeup_new: comm=a b pid=5 prio=0 target_cpu=002",
            true,
            Some(2),
        ),
        (
            "sched:sched_wakeup: a b:5 [0] success=1 CPU:002",
            false,
            Some(2),
        ),
        ("sched_wakeup: a b:5 [0] CPU:002", false, Some(2)),
        ("sched_wakeup: a b:5 [0]", false, None),
    ] {
        match payload(line.as_bytes()) {
            Ok(What::Wake {
                who,
                cpu: c,
                new: n,
            }) => {
                assert_eq!(
                    (text(who.comm), who.pid, who.prio, n, c),
                    ("a b".into(), 5, 0, new, cpu)
                );
            }
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn the_other_events() {
    let told = |line: &str| format!("{:?}", payload(line.as_bytes()).unwrap());
    assert!(
        told("sched_pi_setprio: comm=low pid=30 oldprio=130 newprio=-1")
            .contains("pid: 30, from: 130, to: -1")
    );
    assert_eq!(
        told("sched_stat_runtime: comm=a b pid=3 runtime=998068 [ns]"),
        "Runtime { pid: 3, ns: 998068 }"
    );
    assert_eq!(
        told("sched_stat_runtime: comm=a pid=3 runtime=9 [ns] vruntime=4 [ns]"),
        "Runtime { pid: 3, ns: 9 }"
    );
    assert_eq!(
        told("sched_migrate_task: comm=a pid=3 prio=120 orig_cpu=0 dest_cpu=1"),
        "Migrate { pid: 3, to: 1 }"
    );
    assert!(
        told("sched_process_fork: comm=a pid=3 child_comm=b c child_pid=4")
            .starts_with("Fork { child: 4")
    );
    assert_eq!(
        told("sched_process_exit: comm=a pid=3 prio=120 group_dead=true"),
        "Exit"
    );
    assert_eq!(
        told("sched_process_exec: filename=/a pid=1 b/c pid=3 old_pid=4"),
        "Exec { pid: 3, old: 4 }"
    );
    let enter = "FutexEnter { op: 6 }";
    assert_eq!(
        told("sys_futex(uaddr: abc, op: 86, val: 0, utime: 0, uaddr2: 0, val3: 0)"),
        enter
    );
    assert_eq!(
        told("sys_enter_futex: uaddr: 0x00000abc, op: 0x00000086, val: 0x0"),
        enter
    );
    assert_eq!(
        told("sys_enter_futex: op=FUTEX_LOCK_PI|FUTEX_PRIVATE_FLAG uaddr=0xabc val=0"),
        enter
    );
    assert_eq!(
        told("syscalls:sys_enter_futex: uaddr: 0xabc, op: 0x86"),
        enter
    );
    assert_eq!(told("sys_futex -> 0x0"), "FutexExit");
    assert_eq!(told("syscalls:sys_exit_futex: 0xffffffff"), "FutexExit");
    assert!(told("tracing_mark_write: rtapp_loop: event=start").starts_with("Marker"));
    assert!(told("print: tracing_mark_write: rtapp_loop: event=start").starts_with("Marker"));
    assert!(told("irq_handler_entry: irq=1 name=x").starts_with("Other"));
    assert!(told("sys_read(fd: 3, buf: 0, count: 1)").starts_with("Other"));
    assert!(told("schedule <-futex_wait").starts_with("Other"));
}

#[test]
fn a_cut_line_is_unread() {
    // Within its last number a cut cannot be seen; that is why the reader leaves out a last line
    // without an end.
    for line in [
        "sched_switch: prev_comm=low prev_pid=30 prev_prio=130 prev_state=R ==> next_comm=bg next_pid=31 next_prio=120",
        "sched_switch: low:30 [130] R ==> bg:31 [120]",
        "sched_pi_setprio: comm=low pid=30 oldprio=130 newprio=120",
        "sched_process_fork: comm=a pid=3 child_comm=b child_pid=4",
        "sched_migrate_task: comm=a pid=3 prio=120 orig_cpu=0 dest_cpu=1",
    ] {
        let last_number = line.rfind(['=', '[']).unwrap();
        for cut in 0..=last_number {
            assert!(
                payload(&line.as_bytes()[..cut]).is_err(),
                "{}",
                &line[..cut]
            );
        }
    }
}
