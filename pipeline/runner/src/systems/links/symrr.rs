//! SymRR: the noisy lists are the graph, each link in both directions, since one node alone reports it.

use veilgraph_privatize::Local;
use veilgraph_privatize::links::symrr::{Params, SymRr};

use super::{Evidence, Mechanism, bits, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "symrr",
    fields: fields_of::<Params>,
    evidence: Evidence::Bits,
    graphs,
    functions: &[function::<Local<SymRr>>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    bits::graphs::<SymRr>(plan, data, bits::MIRRORED)
}
