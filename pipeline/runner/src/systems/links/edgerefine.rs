//! `EdgeRefine` (Liu et al. 2026): the reports of `SymRR`, of which few pairs are kept. One release serves both mechanisms.

use veilgraph_construct::ConstructRefined;
use veilgraph_privatize::Local;
use veilgraph_privatize::links::symrr::{Params, SymRr};

use super::{Evidence, Mechanism, TABLE, fields_of, given};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "edgerefine",
    fields: fields_of::<Params>,
    evidence: Evidence::Bits,
    graphs,
    functions: &[function::<ConstructRefined>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let reports = plan.sweep::<Local<SymRr>>(std::slice::from_ref(data), TABLE)?;
    let graphs = plan.sweep::<ConstructRefined>(&reports, "construct")?;
    given(plan, graphs, "given")
}
