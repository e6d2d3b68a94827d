//! `table`: the scores of an experiment as a paper prints them, with what tells methods apart and what does not.

mod axis;
mod beside;
mod costs;
mod csv;
mod latex;
mod markdown;
mod method;
mod notes;
mod pivot;
mod typst;

use std::collections::BTreeSet;

use anyhow::ensure;
use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_runner::config::{ConfigError, score_named};
use veilgraph_runner::output;
use veilgraph_runner::progress::Display;
use veilgraph_store::Store;

use super::summary::{self, Row};
use crate::cli::{TableArguments, TableFormat};
use crate::experiment;
use crate::partial::{self, Gap};
use crate::pooled::pooled;
pub(crate) use pivot::{Against, PivotLine, PivotTable, pivots};

/// Prints the tables of experiments that have run.
pub(crate) fn table(store: &Store, arguments: &TableArguments) -> anyhow::Result<()> {
    let (rows, gaps) = scores_of(store, arguments)?;
    let metric = match &arguments.score {
        Some(name) => named(name)?,
        None => usual(&rows)?,
    };
    let mut scored: Vec<Row> = rows.iter().filter(|row| row.is_about(metric.name)).cloned().collect();
    ensure!(!scored.is_empty(), "no row has the score `{}`; there are {}", metric.name, known_scores(&rows).join(", "));
    let mut swept_in = BTreeSet::new();
    if let Some(field) = &arguments.over {
        let depends = scored.iter().filter(|row| row.cell.choice(field).is_some());
        swept_in.extend(depends.map(|row| (row.cell.experiment.clone(), row.cell.dataset.clone())));
        scored = pooled(&scored, field)?;
    }
    let against = arguments.against.as_deref().map_or(Against::Floor, Against::Named);
    let scored: Vec<&Row> = scored.iter().collect();
    let mut tables = pivots(&scored, metric, against, arguments.columns.as_deref())?;
    for table in &mut tables {
        if swept_in.contains(&(table.experiment.clone(), table.dataset.clone())) {
            table.over.clone_from(&arguments.over);
        }
        let is_here = |gap: &&Gap| gap.is_in(&table.experiment, &table.dataset, metric.name);
        table.gaps = gaps.iter().filter(is_here).map(Gap::words).collect();
    }
    let text = match arguments.format {
        TableFormat::Latex => latex::written(&tables),
        TableFormat::Markdown => markdown::written(&tables),
        TableFormat::Typst => typst::written(&tables),
        TableFormat::Csv => csv::written(&tables)?,
    };
    output::data(text.trim_end());
    Ok(())
}

/// The rows of every config, and what is missing in them: all runs have to be fresh, unless a part is asked for.
fn scores_of(store: &Store, arguments: &TableArguments) -> anyhow::Result<(Vec<Row>, Vec<Gap>)> {
    let published = experiment::read_published(&arguments.run)?;
    let (mut rows, mut all_gaps) = (Vec::new(), Vec::new());
    for ((config, tasks), path) in
        experiment::prepare_all(&arguments.run, published.as_ref())?.iter().zip(&arguments.run.configs)
    {
        let display = Display::new(tasks, 1, true);
        let done = experiment::bring(store, config, tasks, &arguments.run, true, &display)?;
        if !arguments.partial {
            experiment::ensure_fresh(tasks, &done, path)?;
        }
        let mut found = summary::rows(&experiment::read_metrics(&done)?, config.trials)?;
        let gaps = partial::gaps(store, config, tasks, &done)?;
        partial::mark(&mut found, &gaps);
        rows.extend(found);
        all_gaps.extend(gaps);
    }
    Ok((rows, all_gaps))
}

/// The score that a table is about where none is named: the first of these that there is.
fn usual(rows: &[Row]) -> anyhow::Result<&'static Metric> {
    let usual = [&metric::ACCURACY, &metric::LINK_PREDICTION_AUC, &metric::AVERAGE_PRECISION, &metric::FEATURE_MAE];
    let found = usual.into_iter().find(|metric| rows.iter().any(|row| row.is_about(metric.name)));
    found.ok_or_else(|| match known_scores(rows).as_slice() {
        [] => anyhow::anyhow!("there are no scores; run the experiment without --until"),
        known => anyhow::anyhow!("name a --score; there are {}", known.join(", ")),
    })
}

/// The score of this name.
pub(crate) fn named(name: &str) -> Result<&'static Metric, ConfigError> {
    score_named(name).map_err(ConfigError)
}

/// Names of the scores that these rows have.
fn known_scores(rows: &[Row]) -> Vec<&'static str> {
    let has = |metric: &&&Metric| rows.iter().any(|row| row.is_about(metric.name));
    metric::METRICS.iter().filter(has).map(|metric| metric.name).collect()
}
