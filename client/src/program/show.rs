//! `veilgraph-client show`: what a report says, to its node as to the server.

use std::fs;

use anyhow::Context;
use veilgraph_client::decode;

use crate::arguments::ShowArguments;
use crate::files;
use crate::print::{nats, say, warn};

pub(crate) fn run(arguments: &ShowArguments) -> anyhow::Result<()> {
    let parameters = files::read_parameters(&arguments.parameters)?;
    let name = arguments.report.display();
    let bytes = fs::read(&arguments.report).with_context(|| format!("cannot read the report {name}"))?;
    let report = decode(&bytes, &parameters)
        .with_context(|| format!("{name} cannot be read with the parameters in {}", arguments.parameters.display()))?;
    say(&format!("node: {} of {}", report.node(), parameters.n_nodes()))?;
    say(&format!(
        "population: {}; mechanism: {}; release: {}",
        parameters.population(),
        parameters.mechanism().name(),
        parameters.release()
    ))?;
    say(&format!("ones in the noisy list: {} of {} bits", report.ones().len(), parameters.list_length(report.node())))?;
    say(&report.degree().map_or("noisy degree: none".to_owned(), |degree| format!("noisy degree: {degree}")))?;
    let bound = parameters.list_entropy(report.node()) / 8.0;
    say(&format!("size: {} bytes; the noise of the list alone has {bound:.1} bytes of entropy", bytes.len()))?;
    say(&format!(
        "cost: at most {} nats per bit of the list and {} per link",
        nats(parameters.list_bit_cost()),
        nats(parameters.edge_cost())
    ))?;
    if report.is_simulated() {
        warn("warning: the noise of this report comes from a seed, so it protects nothing");
    }
    Ok(())
}
