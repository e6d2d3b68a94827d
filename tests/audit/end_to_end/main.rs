//! Audits of stage functions as they run, one after the other, from coins that decide private data to the verdict.
//!
//! `make audit-mechanisms` plays all games and prints their table; `make test` plays a part of them.

mod games;
mod planted_faults;
mod support;
