//! Where artifacts live: content-hashed Parquet entries, written once and published by one rename.
//!
//! *Invariant:* an entry is complete or absent. Nothing here knows what a stage computes.

mod checkpoints;
mod draft;
mod entry;
mod error;
mod files;
mod layout;
mod lock;
mod manifest;
mod memory;
mod secret;
mod table;

pub use checkpoints::Checkpoints;
pub use draft::{Draft, StoreSaver};
pub use entry::{Entry, Found, Store};
pub use error::StoreError;
pub use lock::KeyLock;
pub use manifest::{LAYOUT_VERSION, Manifest, OutputRecord, Recipe};
pub use memory::MemoryLimit;
pub use table::{metadata_of, read_table};
