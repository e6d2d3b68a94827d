//! Slots are filled by the name and the zone of artifacts.

use veilgraph_contract::{Arity, Slot};

use super::branch::{Absence, Branch, Made};
use super::call::Signature;
use crate::config::ConfigError;
use crate::config::sweep::SweptField;
use crate::task::{BoundSlot, RawHandle, Wire};

/// The slots of a run, filled or not.
pub(super) enum Bound {
    Filled(Inputs),
    /// A slot is empty because its artifact is absent.
    Absent(Absence),
}

/// What a run reads.
#[derive(Default)]
pub(super) struct Inputs {
    pub slots: Vec<BoundSlot>,
    /// Choices under which the artifacts were made.
    pub choices: Vec<SweptField>,
}

/// Fills slots by name and zone. A slot that nobody fills is a mistake; a slot whose artifact is absent is not.
pub(super) fn bind(function: &Signature, from: &[&Branch], files: &[RawHandle]) -> Result<Bound, ConfigError> {
    let mut inputs = Inputs::default();
    for &slot in &function.inputs {
        let found: Vec<Option<&Made>> = from.iter().map(|branch| branch.get(slot)).collect();
        let mut wires: Vec<Wire> = Vec::new();
        match slot.arity {
            Arity::Files => wires.extend(files.iter().cloned().map(Wire::Raw)),
            Arity::Many | Arity::One | Arity::Optional => {
                for made in found {
                    match (made, slot.arity) {
                        (Some(Made::By(wire, choices)), arity) => {
                            // Only a slot for many takes an artifact from each branch.
                            if arity == Arity::Many || !wires.contains(wire) {
                                wires.push(wire.clone());
                                inputs.choices.extend(choices.iter().cloned());
                            }
                        }
                        (_, Arity::Optional) => {}
                        (Some(Made::Not(absence)), _) => return Ok(Bound::Absent(*absence)),
                        (None, _) => return Err(unfilled(function, slot)),
                    }
                }
            }
        }
        if wires.len() > 1 && matches!(slot.arity, Arity::One | Arity::Optional) {
            return Err(function.bug(&format!("branches with different `{}` are run together", slot.artifact)));
        }
        inputs.slots.push(BoundSlot { slot, wires });
    }
    Ok(Bound::Filled(inputs))
}

fn unfilled(function: &Signature, slot: Slot) -> ConfigError {
    function.bug(&format!("it reads `{}` of the zone {}, which nothing makes", slot.artifact, slot.zone.name()))
}
