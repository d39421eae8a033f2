//! WHAT to run: a preset, a file, or standard input.

use std::fs::File;
use std::io::{self, Read};

use super::failure::{Failure, reason};
use crate::workload::{Workload, bounds, presets};

/// Reads the workload that WHAT names. A preset goes before a file of its name (`./name` is the
/// file).
pub(super) fn workload(what: &str) -> Result<Workload, Failure> {
    if what == "-" {
        let bytes = read(io::stdin().lock(), "standard input")?;
        return Ok(Workload::from_bytes(&bytes, "standard input")?);
    }
    if let Some(preset) = presets::named(what) {
        return Ok(Workload::parse(preset.text, preset.name)?);
    }
    let file = File::open(what).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound if !what.contains(['/', '\\', '.']) => Failure::Could(format!(
            "{what}: neither a preset nor a file (`reweight-lab presets` lists the presets)"
        )),
        _ => cannot_read(what, &e),
    })?;
    let bytes = read(file, what)?;
    Ok(Workload::from_bytes(&bytes, what)?)
}

/// Reads up to a byte more than a workload may have: the parser then names the bound.
fn read(from: impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(bounds::BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| cannot_read(name, &e))?;
    Ok(bytes)
}

pub(super) fn cannot_read(name: &str, error: &io::Error) -> Failure {
    Failure::Could(format!("{name}: cannot read: {}", reason(error)))
}
