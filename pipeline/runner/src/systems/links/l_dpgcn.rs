//! L-DpGCN: the pairs with the largest noisy entries.

use veilgraph_construct::ConstructFromEntries;
use veilgraph_contract::NoParams;
use veilgraph_privatize::Local;
use veilgraph_privatize::links::l_dpgcn::{LDpGcn, Params};

use super::{Evidence, Mechanism, TABLE, fields_of, given};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "l-dpgcn",
    fields: fields_of::<Params>,
    evidence: Evidence::Entries,
    graphs,
    functions: &[function::<Local<LDpGcn>>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let reports = plan.sweep::<Local<LDpGcn>>(std::slice::from_ref(data), TABLE)?;
    let build = |report: &Branch| plan.run::<ConstructFromEntries>(&[report], &NoParams {}, Run::default());
    let graphs = reports.iter().map(build).collect::<Result<Vec<Branch>, ConfigError>>()?;
    given(plan, graphs, "given")
}
