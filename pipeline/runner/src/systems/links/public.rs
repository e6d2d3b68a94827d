//! Links that everybody knows: nothing is protected, and no cost is charged.

use veilgraph_contract::HeldOut;
use veilgraph_graph::LinkSample;
use veilgraph_privatize::links::public::{Params, PublishLinks};

use super::{Evidence, Mechanism, TABLE, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "public",
    fields: fields_of::<Params>,
    evidence: Evidence::Open,
    graphs,
    functions: &[function::<PublishLinks>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let cells = plan.cells_of::<PublishLinks>(TABLE, &[])?;
    let mut graphs = Vec::new();
    for cell in cells {
        let holds_out = cell.params.hold_out_links.is_some();
        let mut made = plan.sweep_cells::<PublishLinks>(std::slice::from_ref(data), TABLE, &[cell])?;
        for graph in &mut made {
            "given".clone_into(&mut graph.variant);
            if !holds_out {
                graph.mark_absent::<LinkSample>();
                graph.mark_absent::<HeldOut<LinkSample>>();
            }
        }
        graphs.extend(made);
    }
    Ok(graphs)
}
