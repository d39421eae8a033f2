//! Shares of windows, by nothing but the machine's own count of CPU time.

use reweight_lab::model::units::{Ns, TaskId};
use reweight_lab::workload::Scenario;

/// CPU time of a task in a window, divided by the window's length.
pub fn share(scenario: &Scenario, window: &str, task: &str) -> f64 {
    let mut machine = scenario.machine.clone();
    let window = scenario
        .windows
        .iter()
        .find(|w| w.name == window)
        .unwrap_or_else(|| panic!("no window {window}"));
    let mut at = |end: Ns| {
        machine.run_until(end, &mut ()).expect("a run that goes on");
        let id: Option<TaskId> = scenario.names.find_task_in(&machine, task);
        // Before the first instant there are no tasks yet.
        id.filter(|id| id.index() < machine.tasks().len())
            .map_or(0, |id| machine.cpu_time(id).0)
    };
    let had = at(window.from);
    (at(window.to) - had) as f64 / (window.to - window.from).0 as f64
}
