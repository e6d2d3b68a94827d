//! One bit for every feature (Sajadmanesh, Gatica-Perez 2020, PGC).

use veilgraph_privatize::features::one_bit::OneBit;
use veilgraph_privatize::features::{FeatureMechanism, LocalFeatures};

use super::{Mechanism, fields_of, released};
use crate::function::function;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "one-bit",
    fields: fields_of::<<OneBit as FeatureMechanism>::Params>,
    features: released::<OneBit>,
    functions: &[function::<LocalFeatures<OneBit>>()],
};
