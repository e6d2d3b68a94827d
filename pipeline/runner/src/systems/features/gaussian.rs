//! Every feature with Gaussian noise.

use veilgraph_privatize::features::gaussian::{Gaussian, Params};
use veilgraph_privatize::features::LocalFeatures;

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "gaussian",
    fields: fields_of::<Params>,
    features: released::<Gaussian>,
    functions: &[function::<LocalFeatures<Gaussian>>()],
};
