//! `parameters` and `collect`: a deployment in which real nodes report for themselves, and no machine holds the graph.

mod reports;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use veilgraph_client::{Mechanism, PublicParameters};
use veilgraph_contract::{Artifact, Output, Randomness, Relation, Release, Subject};
use veilgraph_graph::{NodeMap, Nodes};
use veilgraph_privacy::composition::{total_epsilon, totals};
use veilgraph_privacy::{Budget, DegreeNoise, NoisyDegrees, NoisyLinks, ReportFacts};
use veilgraph_runner::belief::{check_belief, sentences};
use veilgraph_runner::config::Config;
use veilgraph_runner::costs::in_words;
use veilgraph_runner::engine::recipe_of_release;
use veilgraph_runner::ledger::{Spent, statement};
use veilgraph_runner::output;
use veilgraph_runner::progress::Display;
use veilgraph_runner::runs::RunRecord;
use veilgraph_runner::task::Task;
use veilgraph_store::{Entry, MemoryLimit, ReleaseRecord, Store, StoreSaver};

use crate::cli::RunArguments;
use crate::experiment;
use crate::new_files::{cannot_write, draft_beside, write_new, write_whole_folder};
use reports::{Reports, in_one_line};

/// A deployment of nodes that report for themselves, before any of them has.
struct Collection {
    config: Config,
    /// The task whose reports the nodes send.
    release: Task,
    /// What is public: the entry of `ingest`, with its task.
    public: (Task, Arc<Entry>),
    parameters: PublicParameters,
    /// The number of every node, as CSV.
    numbers: Vec<u8>,
    scratch: Scratch,
}

/// A store for one call alone: this program makes it, and removes it unless a signal kills the call.
struct Scratch(Store);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.root());
    }
}

/// Writes what every node must know before it reports, and, where that is asked for, the number of every node.
pub(crate) fn parameters(
    arguments: &RunArguments,
    release: u32,
    to: &Path,
    numbers: Option<&Path>,
) -> anyhow::Result<()> {
    ensure!(numbers != Some(to), "{}: --to and --numbers name the same file; name two", to.display());
    for path in [Some(to), numbers].into_iter().flatten() {
        ensure!(!path.exists(), "{}: exists already; name a file that does not", path.display());
    }
    let collection = Collection::prepare(arguments, release, to)?;
    let Collection { config, release: task, .. } = &collection;
    if let Some(stated) = &config.privacy.public_knowledge
        && stated.nodes != u64::from(collection.parameters.n_nodes())
    {
        let problem = format!("the config names {} nodes; state that number", collection.parameters.n_nodes());
        return Err(config.error("privacy.public_knowledge", &problem).into());
    }
    // Nobody here knows what nodes reported before; each earlier collection is taken to have cost the same.
    let nats_per_link = f64::from(release) * total_epsilon(&task.releases, Relation::Edge);
    check_belief(config, config.population(None), nats_per_link, arguments.accepted.accept_belief)?;
    if let Some(path) = numbers {
        write_new(path, &collection.numbers).with_context(|| cannot_write(path))?;
    }
    write_new(to, collection.parameters.to_text().as_bytes()).with_context(|| cannot_write(to))?;
    output::line(&format!(
        "{}: give this file to every node, and each node its number (--numbers FILE lists them). A report costs a node {}",
        to.display(),
        in_words(&totals(&task.releases))
    ));
    sentences(config, std::slice::from_ref(task))?.iter().for_each(|sentence| output::line(sentence));
    Ok(())
}

/// Checks every report, and makes a server's store of those that are sound.
pub(crate) fn collect(
    arguments: &RunArguments,
    release: u32,
    folder: &Path,
    to: &Path,
    are_simulated: bool,
) -> anyhow::Result<()> {
    ensure!(!to.exists(), "{}: exists already; name a folder that does not", to.display());
    let collection = Collection::prepare(arguments, release, to)?;
    let reports = Reports::read(folder, &collection.parameters, are_simulated)?;
    for (file, why) in &reports.left_out {
        output::error_line(&format!("left out {}: {why}", in_one_line(file)));
    }
    let (n_nodes, n_missing) = (collection.parameters.n_nodes() as usize, reports.n_missing());
    ensure!(n_missing < n_nodes, "{}: no sound report was found", folder.display());
    ensure!(
        n_missing == 0 || collection.parameters.epsilon_degree() > 0.0,
        "{n_missing} of {n_nodes} nodes sent no sound report, and without a degree nobody can tell such a node from one that \
         reports no link; wait for their reports, or give degree_fraction a share of the budget"
    );
    let n_left_out = reports.left_out.len();
    write_whole_folder(to, |draft| collection.write(reports, draft))?;
    let cost = in_words(&totals(&collection.release.releases));
    output::line(&format!(
        "{}: reports of {} of {n_nodes} nodes; missing nodes: {n_missing}; files left out: {n_left_out}",
        to.display(),
        n_nodes - n_missing
    ));
    output::line(&format!("each node has learned nothing but the public parameters, and has spent {cost}"));
    output::line(
        "the server has learned which nodes reported, their noisy reports, and what is public: nodes, features, known labels",
    );
    output::line("nobody has learned the graph, and an auditor only what its own copy of the truth says");
    output::line(&format!(
        "the server goes on with `veilgraph --store {} run CONFIG --side server --until train`",
        output::quote(&to.display().to_string())
    ));
    Ok(())
}

/// The number of every node, as the file that `--numbers` writes.
fn numbers(names: &NodeMap) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["node", "name"])?;
    for (node, name) in names.names.iter().enumerate() {
        writer.write_record([&node.to_string(), name])?;
    }
    Ok(writer.into_inner()?)
}

impl Collection {
    /// Reads what is public, in a store for this call alone.
    fn prepare(arguments: &RunArguments, number: u32, to: &Path) -> anyhow::Result<Self> {
        let until = |stage: &str| RunArguments { until: Some(stage.to_owned()), ..arguments.clone() };
        let (config, tasks) = experiment::prepare_one(&until("privatize"))?;
        ensure!(
            config.is_deployment(),
            "{}: nodes that report for themselves draw their noise from their operating systems; set [privacy] randomness = \
             \"os\"",
            config.name
        );
        let mut releases: Vec<Task> = tasks.into_iter().filter(|task| !task.releases.is_empty()).collect();
        let name = &config.name;
        ensure!(releases.len() == 1, "{name} asks for {} releases; nodes report one at a time", releases.len());
        let release = releases.remove(0);
        let mechanism = Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == release.function);
        let mechanism = mechanism.with_context(|| {
            let known: Vec<&str> = Mechanism::ALL.iter().map(|mechanism| mechanism.name()).collect();
            format!("no client speaks `{}`; choose one of {}", release.function, known.join(", "))
        })?;
        let releases: Vec<&Release> = release.releases.iter().collect();
        let nothing = Spent::nothing(&release.population);
        experiment::allowance(&config, arguments).check("the parts of a report cost", &releases, &nothing)?;
        let scratch = Scratch(Store::new(draft_beside(&to.with_extension("scratch"))?));
        let (_, mut tasks) = experiment::prepare_one(&until("ingest"))?;
        let display = Display::new(&tasks, 1, true);
        let done = experiment::bring(&scratch.0, &config, &tasks, &until("ingest"), false, &display)?;
        ensure!(tasks.len() == 1, "{name} names {} graphs; nodes report about one", tasks.len());
        let entry = done.into_iter().find_map(|done| done.entry).context("ingest left no entry")?;
        ensure!(
            !entry.manifest.outputs.contains_key("links"),
            "{name} names a file of links, and whoever collects reports holds none; name the nodes in [ingest] nodes, and \
             leave `edges` out"
        );
        let nodes: Nodes = entry.read(Nodes::NAME, MemoryLimit(u64::MAX))?;
        let n_nodes = u32::try_from(nodes.splits.len())?;
        let part = |subject: Subject| {
            let mine = release.releases.iter().filter(|row| row.subject == subject);
            total_epsilon(mine, Relation::ListBit)
        };
        let budget = (part(Subject::Links), part(Subject::Degrees));
        let parameters = PublicParameters::new(&release.population, mechanism, n_nodes, budget.0, budget.1, number)?;
        let numbers = numbers(&entry.read(NodeMap::NAME, MemoryLimit(u64::MAX))?)?;
        let parameters = parameters.with_numbering(*blake3::hash(&numbers).as_bytes());
        let public = (tasks.remove(0), entry);
        Ok(Self { config, release, public, parameters, numbers, scratch })
    }

    /// Writes the server's store.
    fn write(&self, reports: Reports, to: &Path) -> anyhow::Result<()> {
        let recipe = recipe_of_release(&self.release, self.parameters.release());
        let record = ReleaseRecord {
            population: self.release.population.clone(),
            statement: statement(self.release.function, &self.release.releases),
            number: self.parameters.release(),
            charged_as: recipe.key(),
            collected: true,
        };
        let lock = self.scratch.0.lock(&recipe, || {})?;
        let mut draft = self.scratch.0.draft(recipe, lock)?;
        draft.set_release(Some(record));
        let mut saver = StoreSaver { draft: &mut draft, memory: MemoryLimit(u64::MAX) };
        let facts = self.facts(reports.are_simulated);
        let (lists, degrees) = (reports.lists, reports.degrees);
        NoisyLinks::streamed(&facts, lists.len(), move |node| lists[node].clone()).write(&mut saver)?;
        if self.parameters.mechanism().sends_degree() {
            let degrees: Vec<Option<f64>> = degrees.into_iter().map(|degree| degree.map(|sent| sent as f64)).collect();
            let sent = self.parameters.epsilon_degree() > 0.0;
            let n_nodes = degrees.len();
            let degrees =
                if sent { NoisyDegrees::from_nodes(facts, &degrees) } else { NoisyDegrees::none(facts, n_nodes) };
            degrees.write(&mut saver)?;
        }
        let entry = draft.publish()?;
        let server = Store::new_server(to)?;
        let mut run = RunRecord::default();
        for (task, entry) in [(&self.public.0, self.public.1.as_ref()), (&self.release, &entry)] {
            let public = entry.publish_to(&server, task.canonical.clone())?;
            run.note(task, &public.manifest.key);
        }
        run.write(&server, &self.config.name)?;
        Ok(server.remove_leftovers(std::time::Duration::ZERO)?)
    }

    /// What the reports say of themselves: the same as those of a simulation with these parameters.
    fn facts(&self, are_simulated: bool) -> ReportFacts {
        let number = |field: &str| self.release.params.get(field).and_then(toml::Value::as_float);
        let epsilon = total_epsilon(&self.release.releases, Relation::ListBit);
        ReportFacts {
            mechanism: self.release.function.to_owned(),
            epsilon: number("epsilon").unwrap_or(epsilon),
            epsilon_edge: number("epsilon").unwrap_or(epsilon) * self.parameters.mechanism().lists_per_link(),
            degree_fraction: number("degree_fraction").unwrap_or(0.0),
            budget: Budget { links: self.parameters.epsilon_links(), degree: self.parameters.epsilon_degree() },
            degree_noise: DegreeNoise::default(),
            randomness: if are_simulated { Randomness::Seeded } else { Randomness::Os },
            nodes_from_links: false,
            lying_share: 0.0,
        }
    }
}
