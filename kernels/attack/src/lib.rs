//! What does an attacker learn about links from what was released, and how sure is that?
//!
//! *Invariant:* an attack reads what was released, and of the truth no more than which pairs it is about; scoring it, which
//! asks for the truth, and bounding epsilon by it are apart from it. All arithmetic is in double precision.
//!
//! Where to begin: [`influence::Influence`] attacks a trained network, [`similarity::Distance`] compares what a network
//! says about two nodes, [`roc::Roc`] scores a ranking of pairs, and [`bound`] turns right guesses into a lower bound of
//! epsilon.

pub mod bound;
mod canaries;
pub mod influence;
mod pair_scores;
pub mod roc;
pub mod similarity;

pub use canaries::Canaries;
pub use pair_scores::PairScores;
