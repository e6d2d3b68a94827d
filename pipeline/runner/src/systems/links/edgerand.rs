//! EdgeRand (Wu, Long, Zhang, Li 2022): a curator flips every pair's bit; the released graph is taken as it is.

use veilgraph_privatize::central::edgerand::{EdgeRand, Params};

use super::{Evidence, Mechanism, TABLE, fields_of, given};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "edgerand",
    fields: fields_of::<Params>,
    evidence: Evidence::Bits,
    graphs,
    functions: &[function::<EdgeRand>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let graphs = plan.sweep::<EdgeRand>(std::slice::from_ref(data), TABLE)?;
    given(plan, graphs, "given")
}
