//! `report`: one self-contained page with tables and figures, and each figure as files.

mod answer;
mod attacks;
mod central;
mod data;
mod differences;
mod draw;
mod figure;
mod figures;
mod graphs;
mod lines;
mod on_page;
mod protocol;
mod provenance;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use veilgraph_runner::config::{Config, ConfigError, NAME_RULE, is_name};
use veilgraph_runner::output;
use veilgraph_runner::plan::rounded;
use veilgraph_runner::progress::Display;
use veilgraph_runner::task::{Done, Task};
use veilgraph_store::{Part, Store, replace_folder};

use crate::checks::{self, Outcome};
use crate::cli::RunArguments;
use crate::new_files::{cannot_write, draft_beside};
use crate::partial::{self, Gap};
use crate::{experiment, summary};
use answer::Answer;
use figure::Figure;
use graphs::Graph;
use on_page::{MOST_LINES, figure_on_page, pivots_on_page, tables, up_to};
use protocol::Protocols;
pub(crate) use provenance::program_and_machine;
use summary::Row;

const PAGE: &str = include_str!("report/page.html");
/// How pages look.
pub(crate) const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/page.js");

/// Writes the page of experiments that have run, or of what has run of them.
pub(crate) fn report(
    store: &Store,
    name: Option<&str>,
    is_partial: bool,
    arguments: &RunArguments,
) -> anyhow::Result<()> {
    let published = experiment::read_published(arguments)?;
    let experiments = experiment::prepare_all(arguments, published.as_ref())?;
    let given = name;
    let name = name.unwrap_or(&experiments[0].0.name);
    if !is_name(name) {
        let problem = format!("--name `{name}`: {NAME_RULE}");
        return Err(ConfigError(problem).into());
    }
    // Scores were computed from the truth: they are the auditor's.
    let folder = store.part(Part::Auditor).join("reports");
    let mut gathered = Gathered::default();
    for ((config, tasks), path) in experiments.iter().zip(&arguments.configs) {
        let display = Display::new(tasks, 1, true);
        let done = experiment::bring(store, config, tasks, arguments, true, &display)?;
        if !is_partial {
            experiment::ensure_fresh(tasks, &done, path)?;
        }
        let gaps = partial::gaps(store, config, tasks, &done)?;
        gathered.add(config, tasks, &done, &gaps, experiment::is_whole(arguments))?;
    }
    let Gathered { rows, releases, entries, configs, graphs, provenance, of_other_code, outcomes, gaps } = gathered;
    // Figures and answers are about what there is.
    let scored: Vec<Row> = rows.iter().filter(|row| !row.scores.is_empty()).cloned().collect();
    let protocols = Protocols::of(experiments.iter().map(|(config, _)| config));
    let (answers, mut figures): (Vec<Answer>, Vec<Figure>) = answer::answers(&scored).into_iter().unzip();
    figures.extend(figures::all(&scored, published.as_ref(), &protocols).into_iter().filter(lines::can_be_drawn));
    let drawn = write_figures(&figures, &folder.join(name))?;
    let published = published.map(|_| {
        let found = differences::all(&figures);
        context! { lines => found.lines, summary => found.summary, differences => protocols.differences() }
    });
    let mut environment = Environment::new();
    environment.add_template("report.html", PAGE)?;
    let page = environment.get_template("report.html")?.render(context! {
        name,
        style => STYLE,
        script => SCRIPT,
        question => answers.first().map_or("scores", |answer| answer.question),
        answers => Value::from(Serde(&answers)),
        explanation => answers.first().map(|answer| answer.explanation),
        configs,
        figures => drawn,
        published,
        graphs => graphs::table(&up_to(MOST_LINES, graphs)),
        pivots => pivots_on_page(&rows)?,
        tables => tables(&rows),
        paths => arguments.configs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" "),
        settings => up_to(MOST_LINES, settings(&scored)),
        n_releases => releases.len(),
        releases => up_to(MOST_LINES, releases),
        n_entries => entries.len(),
        entries => up_to(MOST_LINES, entries),
        of_other_code,
        outcomes => Value::from(Serde(&outcomes)),
        gaps,
        again => provenance::again(arguments, given),
        provenance,
    })?;
    let path = folder.join(format!("{name}.html"));
    veilgraph_store::write_private_file(&path, page.as_bytes())?;
    output::line(&format!("{}", path.display()));
    output::error_line(&format!(
        "{}: {} figures as SVG, PNG, CSV and Parquet",
        folder.join(name).display(),
        figures.len()
    ));
    Ok(())
}

/// What a page takes from its experiments.
#[derive(Default)]
struct Gathered {
    rows: Vec<Row>,
    releases: Vec<Vec<String>>,
    entries: Vec<[String; 4]>,
    configs: Vec<Value>,
    graphs: Vec<Graph>,
    provenance: Vec<[String; 2]>,
    of_other_code: Vec<String>,
    outcomes: Vec<Outcome>,
    /// What has not run, in words.
    gaps: Vec<String>,
}

impl Gathered {
    fn add(
        &mut self,
        config: &Config,
        tasks: &[Task],
        done: &[Done],
        gaps: &[Gap],
        is_whole: bool,
    ) -> anyhow::Result<()> {
        let mut rows = summary::rows(&experiment::read_metrics(done)?, config.trials)?;
        partial::mark(&mut rows, gaps);
        self.gaps.extend(gaps.iter().map(Gap::words));
        // Nothing is asked of a part of the scores.
        if is_whole && gaps.is_empty() {
            self.outcomes.extend(checks::outcomes(&config.checks, &rows, tasks, done));
        }
        self.rows.extend(rows);
        self.releases.extend(releases_of(config, tasks));
        self.entries.extend(entries_of(config, tasks, done));
        self.configs.push(described(config));
        for line in provenance::lines(tasks, done, config.is_deployment())? {
            if !self.provenance.contains(&line) {
                self.provenance.push(line);
            }
        }
        // Experiments that share a graph have its entry in common.
        for graph in graphs::graphs(tasks, done, config.is_deployment())? {
            if self.graphs.iter().all(|known| known.key != graph.key) {
                let is_taken = self.graphs.iter().any(|known| known.name() == graph.name());
                self.graphs.push(if is_taken { graph.of_experiment(&config.name) } else { graph });
            }
        }
        self.of_other_code.extend(provenance::of_other_code(tasks, done)?);
        Ok(())
    }
}

/// Names of the files that the last report wrote into its folder, one per line: it may replace these and no others.
const INDEX: &str = ".figures";

/// Draws every figure into `folder`; titles and SVG for the page.
fn write_figures(figures: &[Figure], folder: &Path) -> anyhow::Result<Vec<Value>> {
    let wrong = || cannot_write(folder);
    let draft = draft_beside(folder)?;
    let published = |drawn| {
        let before = std::fs::read_to_string(folder.join(INDEX)).unwrap_or_default();
        let is_ours = |inside: &Path| before.lines().any(|line| inside == Path::new(line));
        replace_folder(&draft, folder, &is_ours)?;
        Ok(drawn)
    };
    draw_into(&draft, figures).and_then(published).with_context(wrong).inspect_err(|_| {
        let _ = std::fs::remove_dir_all(&draft);
    })
}

/// Draws every figure into a folder that is made for them.
fn draw_into(draft: &Path, figures: &[Figure]) -> anyhow::Result<Vec<Value>> {
    veilgraph_store::create_private_folder(draft)?;
    let mut drawn = Vec::new();
    let mut index = vec![INDEX.to_owned()];
    for figure in figures {
        let stem = draft.join(&figure.name);
        let shown = lines::drawn_once(figure);
        let svg = draw::svg(&shown)?;
        let on_white = draw::on_white(&svg);
        std::fs::write(stem.with_extension("svg"), &on_white)?;
        std::fs::write(stem.with_extension("png"), draw::png(&on_white)?)?;
        data::write(figure, &stem)?;
        for ending in ["svg", "png", "csv", "parquet"] {
            let path = stem.with_extension(ending);
            index.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        drawn.push(figure_on_page(&shown, svg));
    }
    std::fs::write(draft.join(INDEX), index.join("\n"))?;
    Ok(drawn)
}

/// What a page says of an experiment.
fn described(config: &Config) -> Value {
    context! {
        name => config.name.as_str(), is_deployment => config.is_deployment(), trials => config.trials, search_trials => config.search_trials, seed => config.seed, text => config.text()
    }
}

fn settings(rows: &[Row]) -> Vec<Vec<String>> {
    let chosen = rows.iter().filter(|row| !row.setting.is_empty());
    let line = |row: &Row| {
        let cell = &row.cell;
        let [experiment, dataset, mechanism, variant, model] =
            [&cell.experiment, &cell.dataset, &cell.mechanism, &cell.variant, &cell.model].map(Clone::clone);
        let (epsilon, setting) = (cell.epsilon.to_string(), row.setting.clone());
        vec![experiment, dataset, mechanism, epsilon, cell.estimate(), variant, model, setting]
    };
    chosen.map(line).collect()
}

/// Rows of the ledger; trials of one cell are counted.
fn releases_of(config: &Config, tasks: &[Task]) -> Vec<Vec<String>> {
    let mut cells: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (task, release) in tasks.iter().flat_map(|task| task.releases.iter().map(move |release| (task, release))) {
        let line = vec![
            config.name.clone(),
            task.cell.clone(),
            release.subject.name().to_owned(),
            release.noise.clone(),
            release.relation.words().to_owned(),
            rounded(release.cost.epsilon()).to_string(),
            match (release.sound, release.why.as_str()) {
                (true, _) => "yes".to_owned(),
                (false, "") => "no: floating-point noise".to_owned(),
                (false, why) => format!("no: {why}"),
            },
        ];
        *cells.entry(line).or_default() += 1;
    }
    cells.into_iter().map(|(line, trials)| [line, vec![trials.to_string()]].concat()).collect()
}

/// Experiment, stage, label and key of every entry that the page rests on.
fn entries_of(config: &Config, tasks: &[Task], done: &[Done]) -> Vec<[String; 4]> {
    let pairs = tasks.iter().zip(done);
    let rows = pairs.filter_map(|(task, done)| {
        let entry = done.entry.as_ref()?;
        Some([config.name.clone(), task.stage.to_owned(), task.label().to_owned(), entry.manifest.key.clone()])
    });
    rows.collect()
}
