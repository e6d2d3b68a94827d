//! Every feature with Gaussian noise.

use veilgraph_privatize::features::gaussian::Gaussian;
use veilgraph_privatize::features::{FeatureMechanism, LocalFeatures};

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "gaussian",
    fields: fields_of::<<Gaussian as FeatureMechanism>::Params>,
    features: released::<Gaussian>,
    functions: &[function::<LocalFeatures<Gaussian>>()],
};
