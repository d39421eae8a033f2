//! The 65 workloads of the recordings: read, written, read again, and cut off at every byte.

use std::fs;
use std::path::PathBuf;

use reweight_lab::workload::{Options, Workload};

fn recorded() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/recordings/workloads");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of the recordings")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let text = fs::read_to_string(path).expect("text");
            (name, text)
        })
        .collect()
}

#[test]
fn every_recorded_workload_is_read_and_built() {
    let files = recorded();
    assert_eq!(files.len(), 65);
    for (name, text) in files {
        let workload = Workload::parse(&text, &name).unwrap_or_else(|e| panic!("{e}"));
        let scenario = workload
            .build(&Options::default())
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scenario.windows.len(), workload.windows.len(), "{name}");
        assert_eq!(Some(scenario.duration), workload.duration, "{name}");
        let deadline = name == "dl_waiter.json";
        assert_eq!(
            workload.notices.len(),
            usize::from(deadline),
            "{name}: {:?}",
            workload.notices
        );
    }
}

#[test]
fn every_recorded_workload_reads_back_as_it_was() {
    for (name, text) in recorded() {
        let workload = Workload::parse(&text, &name).unwrap_or_else(|e| panic!("{e}"));
        let json = workload.to_json();
        let back = Workload::parse(&json, &name).unwrap_or_else(|e| panic!("{e}\n{json}"));
        assert_eq!(back, workload, "{name}");
        assert_eq!(back.to_json(), json, "{name}: written twice");
    }
}

#[test]
fn a_recorded_workload_cut_off_anywhere_is_one_error_with_a_place() {
    for (name, text) in recorded() {
        let whole = text.trim_end().len();
        for end in 0..whole {
            let error = Workload::from_bytes(&text.as_bytes()[..end], &name)
                .expect_err("half a workload is none");
            assert!(error.line > 0 && error.column > 0, "{error}");
            assert_eq!(error.file, name);
            assert!(!error.message.is_empty());
        }
    }
}
