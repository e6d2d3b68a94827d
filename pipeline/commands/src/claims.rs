//! `claims`: runs what a file of claims rests on, and says of each whether it holds.

mod claim;
mod file;
mod page;
mod rows;
mod tolerance;
mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;
use veilgraph_runner::config::Config;
use veilgraph_runner::output;
use veilgraph_runner::progress::Display;
use veilgraph_runner::task::Task;
use veilgraph_store::{Part, Store};

use super::summary::{self, Row};
use crate::cli::{ClaimsArguments, RunArguments};
use crate::experiment;
use claim::Claim;
pub(crate) use file::Mode;
use file::{ClaimsFile, Experiment};
use verdict::{Finding, Verdict};

/// A claim with what was found about it.
#[derive(Serialize)]
struct Checked<'a> {
    id: &'a str,
    says: &'a str,
    source: &'a str,
    experiment: &'a str,
    #[serde(flatten)]
    finding: Finding,
    /// How long the experiment took that several claims may rest on.
    seconds: f64,
}

/// The configs of the experiments that would run.
pub(crate) fn configs(arguments: &ClaimsArguments) -> anyhow::Result<Vec<PathBuf>> {
    let file = ClaimsFile::read(&arguments.file)?;
    let wanted = file.wanted(&arguments.only)?;
    let is_wanted = |one: &&Experiment| {
        one.lacks(arguments.mode(), arguments).is_none() && wanted.iter().any(|claim| claim.experiment == one.name)
    };
    let configs = file.experiments.iter().filter(is_wanted).map(|one| one.config.clone());
    // What is wrong with a config is said where its experiment is prepared.
    Ok(configs.filter(|config| Config::load(config, &[]).is_ok()).collect())
}

/// Runs the experiments that the claims of this mode rest on, and prints a verdict for each claim.
pub(crate) fn claims(store: &Store, arguments: &ClaimsArguments, quiet: bool) -> anyhow::Result<()> {
    let mode = arguments.mode();
    let file = ClaimsFile::read(&arguments.file)?;
    let wanted = file.wanted(&arguments.only)?;
    // A mistake in any config is found before anything runs.
    let mut all_prepared = BTreeMap::new();
    for experiment in file.experiments.iter().filter(|one| one.lacks(mode, arguments).is_none()) {
        if wanted.iter().any(|claim| claim.experiment == experiment.name) {
            let prepared = prepared(arguments, experiment, mode)
                .with_context(|| format!("experiment `{}` of {}", experiment.name, arguments.file.display()))?;
            all_prepared.insert(&experiment.name, prepared);
        }
    }
    let mut checked = Vec::new();
    for experiment in &file.experiments {
        let mine: Vec<&Claim> = wanted.iter().copied().filter(|claim| claim.experiment == experiment.name).collect();
        if mine.is_empty() {
            continue;
        }
        let skipped = experiment.lacks(mode, arguments);
        let start = Instant::now();
        let rows = match all_prepared.remove(&experiment.name) {
            None => Ok(Vec::new()),
            Some(prepared) => scores_of(store, prepared, quiet),
        };
        let seconds = start.elapsed().as_secs_f64();
        for claim in mine {
            let finding = match (&skipped, &rows) {
                (Some(why), _) => Finding::skipped(why.clone()),
                (None, Ok(rows)) => verdict::of(claim, rows, mode),
                (None, Err(error)) => Finding::failed(format!("the experiment failed: {error:#}")),
            };
            if !arguments.json && finding.verdict != Verdict::Skipped {
                output::line(&words(claim, &finding));
            }
            let Claim { id, says, source, .. } = claim;
            checked.push(Checked { id, says, source, experiment: &experiment.name, finding, seconds });
        }
    }
    if !arguments.json {
        for (experiment, why, number) in skipped(&checked) {
            let word = Verdict::Skipped.words();
            output::line(&format!("{word:<9} {} of `{experiment}`: {why}", in_number(number)));
        }
    }
    let folder = store.part(Part::Auditor).join("reports");
    veilgraph_store::create_private_folder(&folder)?;
    let page = folder.join(format!("claims-{}.html", mode.name()));
    let command = format!("veilgraph claims {} --{}", arguments.file.display(), mode.name());
    veilgraph_store::write_private_file(&page, page::written(&checked, &command)?.as_bytes())?;
    let number = |verdict: Verdict| checked.iter().filter(|checked| checked.finding.verdict == verdict).count();
    let failed = number(Verdict::Fails);
    if arguments.json {
        output::data(&serde_json::to_string_pretty(&checked)?);
    } else {
        output::line(&format!(
            "{} hold, {failed} fail, {} undecided, {} skipped; {}",
            number(Verdict::Holds),
            number(Verdict::Undecided),
            number(Verdict::Skipped),
            page.display()
        ));
    }
    anyhow::ensure!(failed == 0, "{failed} of {} claims fail", checked.len());
    anyhow::ensure!(
        number(Verdict::Skipped) < checked.len(),
        "no claim was judged, because all {} were skipped; see why above",
        checked.len()
    );
    Ok(())
}

/// So many claims.
fn in_number(claims: usize) -> String {
    if claims == 1 { "1 claim".to_owned() } else { format!("{claims} claims") }
}

/// Experiment, reason and number of the claims that were not judged.
fn skipped<'a>(checked: &'a [Checked]) -> Vec<(&'a str, &'a str, usize)> {
    let mut groups: Vec<(&str, &str, usize)> = Vec::new();
    for Checked { experiment, finding, .. } in checked.iter().filter(|one| one.finding.verdict == Verdict::Skipped) {
        match groups.iter_mut().find(|group| (group.0, group.1) == (*experiment, finding.found.as_str())) {
            Some(group) => group.2 += 1,
            None => groups.push((experiment, &finding.found, 1)),
        }
    }
    groups
}

/// Runs an experiment; its rows.
fn scores_of(store: &Store, prepared: Prepared, quiet: bool) -> anyhow::Result<Vec<Row>> {
    let Prepared { arguments, config, tasks } = prepared;
    let display = Display::new(&tasks, experiment::jobs(&arguments, false), quiet);
    let metrics = experiment::bring_and_name(store, &config, &tasks, &arguments, &display)?;
    summary::rows(&metrics, config.trials)
}

/// An experiment as `run` would run it.
struct Prepared {
    arguments: RunArguments,
    config: Config,
    tasks: Vec<Task>,
}

/// What a mode asks of an experiment, as `run` is asked it.
fn prepared(arguments: &ClaimsArguments, experiment: &Experiment, mode: Mode) -> anyhow::Result<Prepared> {
    let name = format!("name=\"claims-{}-{}\"", mode.name(), experiment.name);
    let sets = experiment.sets(mode).into_iter().flatten().cloned().chain([name]).collect();
    let arguments = RunArguments {
        data_dir: arguments.data_dir.clone(),
        published: arguments.published.clone(),
        sets,
        device: arguments.device,
        jobs: arguments.jobs,
        ..RunArguments::of(experiment.config.clone())
    };
    let (config, tasks) = experiment::prepare_one(&arguments)?;
    anyhow::ensure!(
        !config.is_deployment(),
        "{}: claims are checked by simulations, and this config is a deployment, whose release would be charged; remove \
         randomness = \"os\"",
        experiment.config.display()
    );
    Ok(Prepared { arguments, config, tasks })
}

/// One line about a claim.
fn words(claim: &Claim, finding: &Finding) -> String {
    format!("{:<9} {:<32} {} ({})", finding.verdict.words(), claim.id, claim.says, finding.found)
}
