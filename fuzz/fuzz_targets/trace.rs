//! Any bytes as a trace: the same answer however they are cut, within the stated bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reweight_lab::trace::read::{
    MAX_BOOSTS, MAX_MARKS, MAX_TASKS, Options, Reader, TraceReport,
};

fn told(bytes: &[u8], piece: usize) -> Result<TraceReport, String> {
    let mut reader = Reader::new(Options {
        timeline: 1000,
        story: 1000,
        ..Options::default()
    });
    for part in bytes.chunks(piece) {
        reader.feed(part).map_err(|e| e.to_string())?;
    }
    let trace = reader.finish().map_err(|e| e.to_string())?;
    if let Ok(what_if) = trace.what_if("fuzz") {
        let text = what_if.workload.to_json();
        reweight_lab::workload::Workload::parse(&text, "fuzz").expect("an implied workload reads");
    }
    Ok(trace.report)
}

fuzz_target!(|bytes: &[u8]| {
    let whole = told(bytes, bytes.len().max(1));
    let cut = told(bytes, 1 + bytes.first().copied().unwrap_or(6) as usize);
    match (&whole, &cut) {
        (Ok(a), Ok(b)) => {
            assert_eq!(serde_json::to_value(a).unwrap(), serde_json::to_value(b).unwrap());
            assert!(a.tasks.len() <= MAX_TASKS);
            assert!(a.boosts.len() <= MAX_BOOSTS && a.marks.len() <= MAX_MARKS);
            a.write_text(&mut std::io::sink()).unwrap();
            a.write_csv(&mut std::io::sink()).unwrap();
        }
        (Err(a), Err(b)) => assert_eq!(a, b),
        _ => panic!("another answer for other pieces: {:?} {:?}", whole.is_ok(), cut.is_ok()),
    }
});
