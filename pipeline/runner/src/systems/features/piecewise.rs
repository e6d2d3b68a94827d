//! Every feature, or some, by the piecewise mechanism (Wang et al. 2019).

use veilgraph_privatize::features::piecewise::Piecewise;
use veilgraph_privatize::features::{FeatureMechanism, LocalFeatures};

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "piecewise",
    fields: fields_of::<<Piecewise as FeatureMechanism>::Params>,
    features: released::<Piecewise>,
    functions: &[function::<LocalFeatures<Piecewise>>()],
};
