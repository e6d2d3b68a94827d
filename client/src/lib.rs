//! What one node sends about itself: its public parameters, its noisy report, and the bytes of that report.
//!
//! *Invariant:* a report holds nothing about the links of a node but what the exact samplers of `veilgraph-noise` drew,
//! and the library knows no file, no clock and no other node. Without the feature `std` it needs an allocator alone.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod draw;
mod parameters;
mod report;
#[cfg(feature = "std")]
mod streams;

pub use draw::draw;
#[cfg(feature = "std")]
pub use parameters::ParameterTextError;
pub use parameters::{MOST_NATS_PER_PART, MOST_NODES, Mechanism, ParameterError, PublicParameters};
pub use report::{DecodeError, Defect, Report, ReportError, decode, encode};
#[cfg(feature = "std")]
pub use streams::draw_from;
