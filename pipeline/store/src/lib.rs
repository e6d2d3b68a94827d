//! Where artifacts live: content-hashed Parquet entries, written once and published by one rename.
//!
//! *Invariant:* an entry is complete or absent. Nothing here knows what a stage computes.

mod checkpoints;
mod content;
mod draft;
mod entry;
mod error;
mod files;
mod layout;
mod leftovers;
mod lock;
mod manifest;
mod memory;
mod places;
mod publish;
mod recover;
mod secret;
mod shared;
mod table;
mod take_over;

pub use checkpoints::Checkpoints;
pub use draft::{CompleteDraft, Draft, Rehearsal, StoreSaver};
pub use entry::{Entry, Found, Readable, Store};
pub use error::StoreError;
pub use files::{create_private_folder, mark_of_this_process, open, remove_ours, replace_folder, write_private_file};
pub use lock::KeyLock;
pub use manifest::{DEPLOYED, LAYOUT_VERSION, Manifest, OutputRecord, Recipe, ReleaseRecord};
pub use memory::MemoryLimit;
pub use places::{Part, StoreKind, is_key};
pub use secret::LEDGER;
pub use table::{metadata_of, read_table};
