//! Plain values that cross to the page.
#![cfg_attr(
    feature = "export",
    allow(dead_code, reason = "the exporter needs the errors only")
)]

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::workload::Error;

/// As a plain object: maps as objects, nothing as null, big integers as numbers.
pub(super) fn to_js<T: Serialize + ?Sized>(value: &T) -> Result<JsValue, JsValue> {
    value
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible())
        .map_err(JsValue::from)
}

#[derive(Serialize)]
struct Message<'a> {
    message: &'a str,
}

/// An error without a place in a file.
pub(super) fn message(text: &str) -> JsValue {
    to_js(&Message { message: text }).unwrap_or(JsValue::NULL)
}

/// A workload's error: its sentence with its place.
pub(super) fn error(e: &Error) -> JsValue {
    to_js(e).unwrap_or(JsValue::NULL)
}

/// A number of ns from the page: whole, from 0 to 2^53.
pub(super) fn ns(value: f64) -> crate::model::units::Ns {
    crate::model::units::Ns(if value.is_finite() && value > 0.0 {
        value as u64
    } else {
        0
    })
}

#[derive(Serialize)]
pub(super) struct KernelValue {
    pub name: &'static str,
    pub from_patches: bool,
}

#[derive(Serialize)]
pub(super) struct TaskValue {
    pub id: u32,
    pub name: String,
    pub policy: &'static str,
    pub nice: i32,
    pub rt_priority: u8,
    pub cpu: u32,
    pub weight: u32,
    pub role: &'static str,
}

#[derive(Serialize)]
pub(super) struct LockValue {
    pub id: u32,
    pub name: String,
}

#[derive(Serialize)]
pub(super) struct WindowValue {
    pub name: String,
    pub from_ns: u64,
    pub to_ns: u64,
}

#[derive(Serialize)]
pub(super) struct EditValue {
    pub at_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pi: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct Info {
    pub format: u32,
    pub title: String,
    pub question: String,
    pub look: String,
    pub kernel: &'static str,
    pub kernels: Vec<KernelValue>,
    pub hz: u32,
    pub cpus_online: u32,
    pub pi: &'static str,
    pub variants: Vec<&'static str>,
    pub duration_ns: u64,
    pub holder: Option<String>,
    pub waiter: Option<String>,
    pub tasks: Vec<TaskValue>,
    pub locks: Vec<LockValue>,
    pub windows: Vec<WindowValue>,
    pub notices: Vec<String>,
    pub edits: Vec<EditValue>,
}

#[derive(Serialize)]
pub(super) struct RunValue<'a> {
    pub row: &'static str,
    pub pi: &'static str,
    pub windows: Vec<std::borrow::Cow<'a, crate::trace::report::WindowReport>>,
}

/// Values by name, in their order: an object on the page.
pub(super) struct Named<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[derive(Serialize)]
pub(super) struct RangeTask {
    pub run_ns: u64,
    pub wait_ns: u64,
    pub blocked_ns: u64,
    pub sleep_ns: u64,
    pub switches: u64,
    pub max_wait_ns: u64,
    pub share: f64,
}

#[derive(Serialize)]
pub(super) struct RangeValue {
    pub tasks: Named<RangeTask>,
    pub idle_ns: u64,
}

#[derive(Default, Serialize)]
pub(super) struct MarkValue {
    pub at_ns: u64,
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub donor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_prio: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prio: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pi: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct EntityValue {
    pub task: u32,
    pub name: String,
    pub current: bool,
    pub vruntime: i64,
    pub deadline: i64,
    pub lag: i64,
    pub eligible: bool,
    pub protected: bool,
    pub delayed: bool,
    pub weight: u32,
    pub slice: u64,
    pub pr: i32,
    pub ni: i32,
}

#[derive(Serialize)]
pub(super) struct QueueValue {
    pub v: i64,
    pub kind: &'static str,
    pub entities: Vec<EntityValue>,
}

#[derive(Serialize)]
pub(super) struct StepsValue {
    pub ran: Vec<u32>,
    pub reweight: bool,
    pub old_prio: i32,
    pub prio: i32,
    pub old_weight: u32,
    pub weight: u32,
    pub task: String,
    pub donor: Option<String>,
    pub at_ns: u64,
}

#[derive(Serialize)]
pub(super) struct WhyNumbers {
    pub task: String,
    pub prev: String,
    pub cause: &'static str,
    pub count: u64,
    pub vruntime: i64,
}

#[derive(Serialize)]
pub(super) struct WhyValue {
    pub at_ns: u64,
    pub id: &'static str,
    pub values: WhyNumbers,
    pub steps: Option<StepsValue>,
}
