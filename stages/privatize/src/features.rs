//! How features are protected: one file for each mechanism, and what they have in common.
//!
//! A mechanism implements [`FeatureMechanism`], and [`LocalFeatures`] makes a stage function of it. What features and
//! label of a node cost together (the relation node-attrs) is the sum of what each costs, so that a release of either has
//! a row of that relation too.

mod choice;
pub mod gaussian;
pub mod laplace;
mod ledger;
mod local;
pub mod multi_bit;
mod non_private;
pub mod one_bit;
mod params;
pub mod piecewise;
mod range;
mod steps;
mod view;

pub use ledger::Stated;
pub use local::{FeatureEncoder, FeatureMechanism, LocalFeatures};
pub use non_private::NonPrivateFeatures;
pub use params::{BudgetUnit, CoordinateParams, Declared, FeatureParams, Message};
pub use range::{Range, RangeError};
pub use view::FeatureView;

#[cfg(test)]
mod tests;
