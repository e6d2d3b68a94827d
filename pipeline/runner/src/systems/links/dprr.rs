//! DPRR (Hidano, Murakami 2022): as many of the reported links of a node as its noisy degree says.

use veilgraph_construct::{BitsParams, Keep};
use veilgraph_privatize::Local;
use veilgraph_privatize::links::dprr::{Dprr, Params};

use super::{Evidence, Mechanism, TABLE, bits, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};
use crate::systems::advised_fraction::resolved;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dprr",
    fields: fields_of::<Params>,
    evidence: Evidence::Bits,
    graphs,
    functions: &[function::<Local<Dprr>>()],
};

/// Lists cannot be thinned without degrees.
const LEAST_SHARE: f64 = 0.01;

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let mut graphs = Vec::new();
    for mut cell in plan.cells::<Params>(TABLE, &[], |_| Ok(()))? {
        let mut data = data.clone();
        let Params { epsilon, degree_fraction, .. } = cell.params;
        cell.params.degree_fraction = resolved(&plan.config, degree_fraction, epsilon, data.n_nodes, LEAST_SHARE)?;
        data.degree_fraction = cell.params.degree_fraction.share(epsilon, data.n_nodes);
        if [0.0, 1.0].contains(&data.degree_fraction) {
            let problem = format!(
                "at {} nats this is a share of {}, and mechanism = \"dprr\" thins lists by reported degrees, so that it needs a part \
                 of the budget for each; write a share between 0 and 1, such as 0.1. Where other mechanisms are to have another \
                 rule, give \"dprr\" a [[compare]] table with its own",
                epsilon.nats(),
                data.degree_fraction
            );
            return Err(plan.config.error("privatize.links.degree_fraction", &problem));
        }
        let reports = plan.sweep_cells::<Local<Dprr>>(&[data], TABLE, &[cell])?;
        graphs.extend(bits::built(plan, &reports, BitsParams { keep: Keep::Thinned, learned: false })?);
    }
    Ok(graphs)
}
