//! One bit for each of a few features (Sajadmanesh, Gatica-Perez 2021, LPGNN).

use veilgraph_privatize::features::multi_bit::MultiBit;
use veilgraph_privatize::features::{FeatureMechanism, LocalFeatures};

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "multi-bit",
    fields: fields_of::<<MultiBit as FeatureMechanism>::Params>,
    features: released::<MultiBit>,
    functions: &[function::<LocalFeatures<MultiBit>>()],
};
