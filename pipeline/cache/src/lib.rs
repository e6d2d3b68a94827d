//! A cache that several machines share: a folder, or a bucket of an S3-compatible object storage.
//!
//! The cache holds what a server may see of entries, and orders (tasks to be run). Files stand under their digest and
//! entries under their key, so that whoever writes one again writes the same bytes. An entry is put after all of its
//! files: an upload that was interrupted is never seen.
//!
//! *Invariant:* nothing of the zones `owner` and `auditor` leaves the machine. What comes in is compared with its digest.

mod entries;
mod error;
mod objects;
mod orders;

pub use error::CacheError;
pub use objects::Cache;
