//! Every feature, or some, by the piecewise mechanism (Wang et al. 2019).

use veilgraph_privatize::features::piecewise::{Piecewise, Params};
use veilgraph_privatize::features::LocalFeatures;

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "piecewise",
    fields: fields_of::<Params>,
    features: released::<Piecewise>,
    functions: &[function::<LocalFeatures<Piecewise>>()],
};
