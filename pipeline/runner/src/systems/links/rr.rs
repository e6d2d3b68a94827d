//! RR: the noisy lists are the graph, each link from the node that reported it.

use veilgraph_privatize::Local;
use veilgraph_privatize::links::rr::{Params, Rr};

use super::{Evidence, Mechanism, bits, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "rr",
    fields: fields_of::<Params>,
    evidence: Evidence::Bits,
    graphs,
    functions: &[function::<Local<Rr>>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    bits::graphs::<Rr>(plan, data, bits::DIRECTED)
}
