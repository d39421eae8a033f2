//! Any bytes as a workload: an error with a place in them, or a workload that reads back as it was
//! written and whose run ends, the same twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reweight_lab::model::units::{Ns, TaskId};
use reweight_lab::workload::{Options, Workload};

/// How long a run may be, ns of simulated time, so that an input costs milliseconds.
const SHORT: Ns = Ns(20_000_000);

fuzz_target!(|bytes: &[u8]| {
    let workload = match Workload::from_bytes(bytes, "fuzz") {
        Ok(workload) => workload,
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
            return;
        }
    };
    let written = workload.to_json();
    let again = Workload::parse(&written, "fuzz").expect("what was written reads back");
    assert_eq!(again.to_json(), written);
    if workload.tasks.len() > 50 {
        return;
    }
    let run = |workload: &Workload| {
        let mut built = workload.build(&Options::default()).ok()?;
        let end = built.duration.min(SHORT);
        let _ = built.machine.run_until(end, &mut ());
        let times: Vec<_> = (0..built.machine.tasks().len() as u32)
            .map(|t| built.machine.cpu_time(TaskId(t)))
            .collect();
        Some((times, built.machine.decisions()))
    };
    assert_eq!(run(&workload), run(&again));
});
