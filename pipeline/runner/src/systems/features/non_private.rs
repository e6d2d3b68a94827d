//! The features themselves: a reference that protected features are compared with.

use veilgraph_privatize::features::non_private::{NonPrivate, Params};
use veilgraph_privatize::features::LocalFeatures;

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "non-private",
    fields: fields_of::<Params>,
    features: released::<NonPrivate>,
    functions: &[function::<LocalFeatures<NonPrivate>>()],
};
