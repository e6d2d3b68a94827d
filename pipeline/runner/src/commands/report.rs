//! `report`: one self-contained page with tables and plots.

mod plots;

use anyhow::Context;
use minijinja::{Environment, context};
use veilgraph_store::Store;

use crate::cli::RunArguments;
use crate::commands::{run, summary};
use crate::engine::Done;
use crate::output;
use crate::tasks::Task;

const PAGE: &str = include_str!("report/page.html");

/// Writes the page of an experiment that has run.
pub(crate) fn report(store: &Store, arguments: &RunArguments) -> anyhow::Result<()> {
    let (config, tasks) = run::prepare(arguments)?;
    let done = run::bring(store, &config, &tasks, arguments, true, true)?;
    let stale = done.iter().filter(|done| done.entry.is_none()).count();
    anyhow::ensure!(
        stale == 0,
        "{stale} of {} stage runs are not fresh; run `veilgraph run {}` first",
        tasks.len(),
        arguments.config.display()
    );
    let rows = summary::rows(&run::read_metrics(&done)?);
    let tables: Vec<_> = summary::KINDS
        .iter()
        .filter_map(|kind| {
            let mut lines = summary::cells(kind, &rows).into_iter();
            let head = lines.next()?;
            Some(context! { title => kind.title, head, lines => lines.collect::<Vec<_>>() })
        })
        .collect();
    let settings: Vec<_> = rows
        .iter()
        .filter(|row| !row.setting.is_empty())
        .map(|row| {
            vec![
                row.dataset.clone(),
                row.epsilon.to_string(),
                row.variant.clone(),
                row.model.clone(),
                row.setting.clone(),
            ]
        })
        .collect();
    let releases: Vec<_> = tasks
        .iter()
        .flat_map(|task| task.releases.iter().map(move |release| (task, release)))
        .map(|(task, release)| {
            let relation =
                if release.relation == veilgraph_privacy::Relation::Edge { "undirected link" } else { "list bit" };
            vec![
                task.label.clone(),
                release.target.clone(),
                release.mechanism.clone(),
                relation.to_owned(),
                release.epsilon.to_string(),
                if release.sound { "yes" } else { "no: floating-point noise" }.to_owned(),
            ]
        })
        .collect();
    let config_text = std::fs::read_to_string(&arguments.config)
        .with_context(|| format!("{}: cannot read", arguments.config.display()))?;
    let page = Environment::new().render_str(
        PAGE,
        context! {
            name => config.name.as_str(),
            trials => config.trials,
            seed => config.seed,
            plots => plots::all(&rows)?.into_iter().map(|plot| context! { title => plot.title, svg => plot.svg }).collect::<Vec<_>>(),
            tables,
            settings,
            releases,
            entries => entries(&tasks, &done),
            config_text,
            sets => arguments.sets.clone(),
            version => env!("CARGO_PKG_VERSION"),
        },
    )?;
    let folder = store.root().join("reports");
    let path = folder.join(format!("{}.html", config.name));
    let wrong = || format!("{}: cannot write the report", path.display());
    std::fs::create_dir_all(&folder).with_context(wrong)?;
    std::fs::write(&path, page).with_context(wrong)?;
    output::line(&format!("{}", path.display()));
    Ok(())
}

/// Stage, label and key of every entry that the page rests on.
fn entries(tasks: &[Task], done: &[Done]) -> Vec<[String; 3]> {
    let pairs = tasks.iter().zip(done);
    let rows = pairs.filter_map(|(task, done)| {
        let entry = done.entry.as_ref()?;
        Some([task.runnable.stage().to_owned(), task.label.clone(), entry.manifest.key.clone()])
    });
    rows.collect()
}
