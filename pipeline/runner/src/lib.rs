//! What has to run, and why: configs, plans, the engine of tasks, the ledger of releases and the history of runs.
//!
//! The commands (`pipeline/commands`) are what a user calls.

pub mod belief;
pub mod build;
pub mod config;
pub mod confirm;
pub mod costs;
pub mod datasets;
pub mod date;
pub mod engine;
pub mod executor;
mod function;
pub mod host;
mod kind;
pub mod ledger;
pub mod live;
pub mod measured;
pub mod nearest;
pub mod order;
pub mod output;
mod peak_memory;
pub mod perform;
pub mod plan;
pub mod progress;
pub mod published;
pub mod registry;
pub mod remaining;
pub mod runs;
pub mod systems;
pub mod task;
mod watcher;
pub mod why;
