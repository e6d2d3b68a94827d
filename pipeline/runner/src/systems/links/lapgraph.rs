//! LapGraph (Wu, Long, Zhang, Li 2022): a curator keeps the pairs with the largest noisy bits; the released graph is
//! taken as it is.

use veilgraph_privatize::central::lapgraph::{LapGraph, Params};

use super::{Evidence, Mechanism, TABLE, fields_of, given};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "lapgraph",
    fields: fields_of::<Params>,
    evidence: Evidence::Other,
    graphs,
    functions: &[function::<LapGraph>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let graphs = plan.sweep::<LapGraph>(std::slice::from_ref(data), TABLE)?;
    given(plan, graphs, "given")
}
