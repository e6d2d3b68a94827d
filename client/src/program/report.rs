//! `veilgraph-client report`: draws a report once, and writes the same one whenever it is asked again.

use anyhow::{bail, ensure};
use veilgraph_client::{PublicParameters, draw_from, encode};
use veilgraph_contract::StageRng;

use crate::arguments::ReportArguments;
use crate::nodes::Nodes;
use crate::print::{nats, say, warn};
use crate::state::{Record, Release, State};
use crate::{files, links, state};

/// What the record calls noise of the operating system.
const REAL: &str = "os";

pub(crate) fn run(arguments: &ReportArguments) -> anyhow::Result<()> {
    let parameters = files::read_parameters(&arguments.parameters)?;
    let nodes = Nodes::of(arguments, &parameters)?;
    let node = nodes.number(arguments.node.as_bytes(), "correct --node")?;
    let (list, n_repeated) = links::read(&arguments.links, node, &nodes)?;
    let mut state = State::open(&arguments.state)?;
    ensure!(
        !state.holds(&files::folder_of(&arguments.to)),
        "{} lies in the state folder, from which nothing is sent; name another file",
        arguments.to.display()
    );
    let noise = arguments.simulate_seed.map_or(REAL.to_owned(), |seed| simulated(seed, arguments.trial));
    check_folder(&state.record, arguments, node, &parameters, &noise)?;

    let digest = state.digest_of(&list);
    let text = parameters.to_text();
    let is_this = |release: &Release| (&release.parameters, release.node, &release.noise) == (&text, node, &noise);
    let known = state.record.releases.iter().position(is_this);
    let cost = parameters.list_bit_cost();
    let bytes = match known.map(|at| &state.record.releases[at]) {
        Some(release) if release.list == digest => {
            let bytes = release.report()?;
            files::is_delivered(&arguments.to, Some(&bytes))?;
            announce(&parameters, arguments, "it was drawn before, and sending the same bytes again costs nothing")?;
            bytes
        }
        known_release => {
            let again = known_release.is_some();
            files::is_delivered(&arguments.to, None)?;
            let spent = state.record.spent();
            // Under other parameters too, and under any name of the population, a report about a changed list tells more than one
            // about the same list.
            let has_changed = state.record.releases.iter().any(|release| release.list != digest);
            if (again || has_changed) && !arguments.spend {
                bail!(
                    "{} is not the list that node {node} has reported: its links have changed since, or the numbers of nodes. \
                     A second report costs a further {} nats per bit of the list, {} with all that this folder has \
                     reported{}; to pay that, add --spend (another network needs a --state folder of its own)",
                    arguments.links.display(),
                    nats(cost),
                    nats(spent + cost),
                    arguments.budget.map_or(String::new(), |budget| format!(" (the budget is {})", nats(budget))),
                );
            }
            check_budget(arguments, spent, cost)?;
            announce(
                &parameters,
                arguments,
                if again { "it replaces the one about the earlier list" } else { "it is new" },
            )?;
            let source = match arguments.simulate_seed {
                Some(seed) => StageRng::new(seed, "privatize", arguments.trial),
                None => StageRng::from_os(&state::random_bytes()?),
            };
            let bytes = encode(&draw_from(&source, &parameters, node, &list)?, &parameters);
            let at = known.unwrap_or_else(|| {
                state.record.releases.push(Release::new(node, &noise, &parameters));
                state.record.releases.len() - 1
            });
            state.record.releases[at].add(digest, &bytes, cost);
            // What is recorded and never leaves costs budget; what left unrecorded would cost privacy.
            state.save()?;
            bytes
        }
    };
    files::deliver(&arguments.to, &bytes)?;
    if n_repeated > 0 {
        say(&format!("{}: lines that repeat another were counted once: {n_repeated}", arguments.links.display()))?;
    }
    let budget = arguments.budget.map_or(String::new(), |budget| format!(" of {}", nats(budget)));
    say(&format!(
        "{}: {} bytes; all reports of this folder cost {}{budget} nats per bit of the list",
        arguments.to.display(),
        bytes.len(),
        nats(state.record.spent())
    ))
}

fn simulated(seed: u64, trial: u32) -> String {
    format!("seed {seed}, trial {trial}")
}

/// Says what leaves the device and what it costs, before anything is drawn.
fn announce(parameters: &PublicParameters, arguments: &ReportArguments, which: &str) -> anyhow::Result<()> {
    let parts = match (parameters.epsilon_links() > 0.0, parameters.epsilon_degree() > 0.0) {
        (true, true) => "a noisy list and a noisy degree leave",
        (true, false) => "a noisy list leaves",
        (false, _) => "a noisy degree leaves",
    };
    say(&format!(
        "{parts} this device as {}: this report costs at most {} nats per bit of your list and {} per link; {which}",
        arguments.to.display(),
        nats(parameters.list_bit_cost()),
        nats(parameters.edge_cost()),
    ))?;
    if arguments.simulate_seed.is_some() {
        warn("warning: the noise comes from a seed, so this report protects nothing; never send it about real links");
    }
    Ok(())
}

/// A folder serves one node of a population, and either real reports or simulated ones.
fn check_folder(
    record: &Record,
    arguments: &ReportArguments,
    node: u32,
    parameters: &PublicParameters,
    noise: &str,
) -> anyhow::Result<()> {
    let folder = arguments.state.display();
    for release in &record.releases {
        ensure!(
            (release.noise == REAL) == (noise == REAL),
            "{folder} holds {} reports, and these do not mix; name another state folder",
            if release.noise == REAL { "real" } else { "simulated" }
        );
        let earlier = PublicParameters::from_text(&release.parameters)?;
        // Under another numbering, the same person may have another number.
        let is_same = earlier.population() == parameters.population() && earlier.numbering() == parameters.numbering();
        ensure!(
            !is_same || release.node == node,
            "{folder} has reported as node {} of `{}`, not as node {}; correct --node, or name the state folder of \
             that node",
            release.node,
            earlier.population(),
            node
        );
    }
    Ok(())
}

fn check_budget(arguments: &ReportArguments, spent: f64, cost: f64) -> anyhow::Result<()> {
    let Some(budget) = arguments.budget else { return Ok(()) };
    ensure!(
        // Sums of decimals are off by some 1e-16.
        spent + cost <= budget * (1.0 + 1e-12),
        "this report costs {} nats per bit of the list and exceeds the budget: {} of {} nats are spent in {}; nothing \
         was drawn. Report with less, or raise --budget",
        nats(cost),
        nats(spent),
        nats(budget),
        arguments.state.display()
    );
    Ok(())
}
