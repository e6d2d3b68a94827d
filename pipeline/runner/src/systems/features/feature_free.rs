//! No features are collected; something that says nothing about any node takes their place. What private features are
//! worth is the difference to this.

use super::{Mechanism, substituted};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan};

pub(super) const NAME: &str = "feature-free";

pub(super) const MECHANISM: Mechanism = Mechanism { name: NAME, fields: Vec::new, features, functions: &[] };

fn features(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    substituted(plan, data)
}
