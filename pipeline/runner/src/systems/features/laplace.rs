//! Every feature with Laplace noise.

use veilgraph_privatize::features::laplace::Laplace;
use veilgraph_privatize::features::{FeatureMechanism, LocalFeatures};

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "laplace",
    fields: fields_of::<<Laplace as FeatureMechanism>::Params>,
    features: released::<Laplace>,
    functions: &[function::<LocalFeatures<Laplace>>()],
};
