//! What does an attacker learn from what was released, and how sure is that?
//!
//! *Invariant:* what scores an attack against the truth is apart from the attack. All arithmetic is in double precision.
//!
//! Where to begin: [`influence::Influence`] attacks a trained network, [`similarity::Distance`] compares what a network
//! says about two nodes, and [`roc::Roc`] scores a ranking of pairs.

mod canaries;
pub mod influence;
pub mod pair_descriptors;
mod pair_scores;
mod record;
pub mod roc;
pub mod similarity;

pub use canaries::Canaries;
pub use pair_scores::PairScores;
pub use record::Record;
