//! Slots are filled by the name and the zone of artifacts.

use veilgraph_contract::{Arity, Slot, Stage};

use super::branch::{Absence, Branch, Made};
use crate::config::ConfigError;
use crate::task::{BoundSlot, RawHandle, Wire};

/// Fills slots by name and zone; the outer error is a mistake, the inner one an absence.
pub(super) fn bind<S: Stage>(
    slots: &[Slot],
    from: &[&Branch],
    files: &[RawHandle],
) -> Result<Result<Vec<BoundSlot>, Absence>, ConfigError> {
    let mut bound = Vec::new();
    for &slot in slots {
        let found = from.iter().map(|branch| branch.get(slot));
        let wires = match slot.arity {
            Arity::Files => files.iter().cloned().map(Wire::Raw).collect(),
            Arity::Many => {
                let mut wires = Vec::new();
                for made in found {
                    match made {
                        Some(Made::By(wire)) => wires.push(wire.clone()),
                        Some(Made::Not(absence)) => return Ok(Err(*absence)),
                        None => return Err(unfilled::<S>(slot)),
                    }
                }
                wires
            }
            Arity::One | Arity::Optional => {
                let all: Vec<Option<&Made>> = found.collect();
                if all.iter().any(|made| *made != all[0]) {
                    return Err(bug::<S>(&format!("branches with different `{}` are run together", slot.artifact)));
                }
                match (all[0], slot.arity) {
                    (Some(Made::By(wire)), _) => vec![wire.clone()],
                    (_, Arity::Optional) => Vec::new(),
                    (Some(Made::Not(absence)), _) => return Ok(Err(*absence)),
                    (None, _) => return Err(unfilled::<S>(slot)),
                }
            }
        };
        bound.push(BoundSlot { slot, wires });
    }
    Ok(Ok(bound))
}

fn unfilled<S: Stage>(slot: Slot) -> ConfigError {
    bug::<S>(&format!("it reads `{}` of the zone {}, which nothing makes", slot.artifact, slot.zone.name()))
}

pub(super) fn bug<S: Stage>(problem: &str) -> ConfigError {
    let (stage, function) = (S::STAGE, S::TASK);
    ConfigError(format!("{stage} {function}: {problem}; correct the wiring in pipeline/runner/src/systems"))
}
