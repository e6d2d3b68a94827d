//! Attacks that learn from a shadow what the answers about linked nodes look like.
//!
//! The attacker holds a graph of the same kind: here the nodes that are not attacked, with the links, features and labels
//! among them. On this shadow it trains a network like the one that it attacks, and a classifier of pairs by what that
//! network answers. The classifier then scores the attacked pairs by what the attacked network answers.

mod classifier;
mod inductive;
mod rows;
mod shadow;
mod shadow_model;

pub use inductive::{Inductive, InductiveParams};
pub use shadow_model::{ShadowModel, ShadowParams};
