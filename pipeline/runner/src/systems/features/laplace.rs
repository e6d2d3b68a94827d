//! Every feature with Laplace noise.

use veilgraph_privatize::features::laplace::{Laplace, Params};
use veilgraph_privatize::features::LocalFeatures;

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "laplace",
    fields: fields_of::<Params>,
    features: released::<Laplace>,
    functions: &[function::<LocalFeatures<Laplace>>()],
};
