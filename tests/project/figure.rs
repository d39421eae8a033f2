//! The static figure, shown before and without JavaScript and in print, holds the model's own
//! numbers: what `reweight-lab compare patch-test` prints for the boosted window.
//!
//! The two files carry the figure between `static-result: begin` and `static-result: end`. Here it
//! is made from a run and compared; on a difference the text that should stand there is printed.

use std::fs;
use std::path::Path;

use reweight_lab::model::pi::Variant;
use reweight_lab::model::units::Ns;
use reweight_lab::trace::{self, What};
use reweight_lab::workload::{Options, Workload, presets};

/// What a row of the figure tells.
struct Row {
    share: f64,
    weight: u32,
    sum: u32,
}

/// The boosted window of the patch's own test under a variant.
fn row(variant: Variant) -> Row {
    let preset = presets::named("patch-test").expect("the preset is there");
    let workload = Workload::parse(preset.text, preset.name).expect("the preset can be read");
    let options = Options {
        pi: Some(variant),
        ..Options::default()
    };
    let scenario = workload.build(&options).expect("the preset can be built");
    let run = trace::simulate(scenario, true).expect("the preset runs");
    let boosted = run.report.window("boosted").expect("a boosted window");
    let recording = run.recording.as_ref().expect("it was recorded");
    // The weight low has in that window: set by the last change of its prio before it.
    let lent = recording
        .marks(Ns(0), Ns(boosted.from_ns))
        .iter()
        .rev()
        .find_map(|mark| match mark.what {
            What::SetPrio { weight, .. } => Some(weight),
            _ => None,
        })
        .expect("low is boosted before the window");
    let bg = run.report.task("bg").expect("bg").weight;
    Row {
        share: boosted.tasks.get("low").expect("low").share,
        weight: lent,
        sum: lent + bg,
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

/// The bars of one row: 640 wide, two pixels between the parts, the label of low where it fits.
fn bars(row: &Row, y: u32) -> String {
    let bg = row.sum - row.weight;
    let own = (638.0 * f64::from(row.weight) / f64::from(row.sum)).round() as u32;
    let rest = own + 2;
    let at = if y == 0 {
        String::new()
    } else {
        format!(" y=\"{y}\"")
    };
    let label = if own > 100 {
        format!(
            "<text class=\"on\" x=\"{}\" y=\"{}\">low {}</text>",
            own.div_ceil(2),
            y + 13,
            row.weight
        )
    } else {
        String::new()
    };
    let half = if y == 0 { ".5" } else { "24.5" };
    format!(
        "<rect class=\"low\"{at} width=\"{own}\" height=\"18\" rx=\"2\"></rect><rect class=\"rest\" x=\"{rest}\" y=\"{half}\" width=\"{}.5\" height=\"17\" rx=\"2\"></rect>{label}<text x=\"{}\" y=\"{}\">bg {bg}</text>\n",
        639 - rest,
        (rest + 640) / 2,
        y + 13,
    )
}

/// The text between the two marks of a file, without the lines of the marks.
fn held(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
    let (_, rest) = text
        .split_once("static-result: begin")
        .unwrap_or_else(|| panic!("{file}: no begin"));
    let (inside, _) = rest
        .split_once("static-result: end")
        .unwrap_or_else(|| panic!("{file}: no end"));
    let mut lines: Vec<&str> = inside.lines().collect();
    lines.remove(0);
    lines.pop();
    lines.join("\n") + "\n"
}

#[test]
fn the_page_shows_what_the_model_says_before_and_without_javascript() {
    let rows = [row(Variant::Stock), row(Variant::Reweight)];
    let mut expected = String::from(
        "<table>\n<caption>One CPU, Linux 6.12, HZ 1000; low at nice 10 competes with bg at nice 0 while high, at nice 0, is blocked</caption>\n<thead><tr><th scope=\"col\">run</th><th scope=\"col\">weight of low</th><th scope=\"col\">share of low %</th></tr></thead>\n<tbody>\n",
    );
    for (name, row) in ["stock kernel", "with the patch"].iter().zip(&rows) {
        expected += &format!(
            "<tr><th scope=\"row\">{name}</th><td>{} of {}</td><td>{}</td></tr>\n",
            row.weight,
            row.sum,
            percent(row.share)
        );
    }
    let bg = rows[0].sum - rows[0].weight;
    expected += &format!(
        "</tbody>\n</table>\n<svg viewBox=\"0 0 640 44\" role=\"img\" aria-label=\"Weights. Stock kernel: low {}, bg {bg}. With the patch: low {}, bg {bg}.\">\n",
        rows[0].weight, rows[1].weight
    );
    expected += &bars(&rows[0], 0);
    expected += &bars(&rows[1], 24);
    expected += "</svg>\n";
    assert_eq!(
        held("www/index.html"),
        expected,
        "www/index.html should hold:\n{expected}"
    );
}

#[test]
fn the_element_shows_what_the_model_says_before_the_model_is_up() {
    let mut expected = String::from(
        "export const RESULT = {\n  preset: \"patch-test\",\n  kernel: \"6.12\",\n  hz: 1000,\n  holder: \"low\",\n  rows: [\n",
    );
    for variant in [Variant::Stock, Variant::Reweight] {
        let row = row(variant);
        // Four digits are what is shown.
        let share = (row.share * 1e4).round() / 1e4;
        expected += &format!(
            "    {{ pi: \"{}\", share: {share}, weight: {}, sum: {} }},\n",
            variant.name(),
            row.weight,
            row.sum
        );
    }
    expected += "  ],\n};\n";
    assert_eq!(
        held("www/core/figure.js"),
        expected,
        "www/core/figure.js should hold:\n{expected}"
    );
}
