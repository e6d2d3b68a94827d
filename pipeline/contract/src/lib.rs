//! What a stage, an artifact and a side are: traits and the few values that cross between crates.
//!
//! This crate knows no file, no clock, no configuration and no mathematics.

mod artifact;
mod by_blocks;
mod inputs;
mod memory;
mod random;
mod release;
mod side;
mod stage;

pub use artifact::{Artifact, Column, ColumnType, Facts, Invalid, take};
pub use by_blocks::{Blocks, Stored, Streamed, among_rows, until_error};
pub use inputs::{Arity, Input, Inputs, Loader, Output, Outputs, RawFile, Saver, Slot};
pub use memory::{Memory, TooLarge};
pub use random::{Randomness, StageRng};
pub use release::{Cost, Relation, Release, Subject, Trust, nats, optional_nats};
pub use side::{Auditor, HeldOut, Owner, Private, Public, ReadableBy, Server, Side, Zone};
pub use stage::{Draws, NoParams, Progress, Stage, Watcher};
