//! LDPGen (Qin et al. 2017): two rounds of counts, with the server's groups before each.

use veilgraph_construct::{ConstructFromCounts, CountsParams};
use veilgraph_contract::NoParams;
use veilgraph_estimate::{GroupAtRandom, GroupByCounts};
use veilgraph_privatize::Local;
use veilgraph_privatize::links::ldpgen::{LdpGen, Params as LdpGenParams};

use super::{Evidence, Mechanism, TABLE, fields_of, given};
use crate::config::ConfigError;
use crate::config::sweep::SweptCell;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "ldpgen",
    fields: fields_of::<LdpGenParams>,
    evidence: Evidence::Other,
    graphs,
    functions: &[function::<Local<LdpGen<1>>>(), function::<Local<LdpGen<2>>>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let mut graphs = Vec::new();
    for cell in plan.cells::<LdpGenParams>(TABLE, &[], |_| Ok(()))? {
        for trial in plan.every_trial(&data.with(&cell.choices)) {
            graphs.extend(rounds(plan, &trial, &cell)?);
        }
    }
    given(plan, graphs, "given")
}

/// Both rounds of one trial, and every graph from them.
fn rounds(plan: &mut Plan, data: &Branch, cell: &SweptCell<LdpGenParams>) -> Result<Vec<Branch>, ConfigError> {
    let round = |step| Run { table: TABLE, step, ..Run::default() };
    let coins = plan.run::<GroupAtRandom>(&[data], &NoParams {}, round("round-0"))?;
    let first = plan.run::<Local<LdpGen<1>>>(&[&coins], &cell.params, round("round-1"))?;
    // The second grouping starts from the counts alone; it must not read the groups that the coins gave.
    let mut counted = first;
    counted.mark_absent::<veilgraph_privacy::Groups>();
    let asked = plan.run::<GroupByCounts>(&[&counted], &NoParams {}, round("round-1"))?;
    let asked = asked.without(&["noisy_counts"]);
    let second = plan.run::<Local<LdpGen<2>>>(&[&asked], &cell.params, round("round-2"))?;
    let regrouped = plan.run::<GroupByCounts>(&[&second], &NoParams {}, round("round-2"))?;
    let mut graphs = Vec::new();
    for construct in plan.cells::<CountsParams>("construct", &[], |_| Ok(()))? {
        let (second, regrouped) = (second.with(&construct.choices), regrouped.with(&construct.choices));
        let run = Run { table: "construct", ..Run::default() };
        graphs.push(plan.run::<ConstructFromCounts>(&[&second, &regrouped], &construct.params, run)?);
    }
    Ok(graphs)
}
