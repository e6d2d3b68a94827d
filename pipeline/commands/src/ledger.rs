//! `ledger`: what was released, and what it cost.

use std::collections::BTreeMap;

use comfy_table::Table;
use comfy_table::presets;
use veilgraph_contract::Release;
use veilgraph_privacy::composition::totals;
use veilgraph_runner::costs::at_delta;
use veilgraph_runner::date::date;
use veilgraph_runner::ledger::{Ledger, LedgerRow};
use veilgraph_runner::output;
use veilgraph_runner::plan::rounded;
use veilgraph_store::Store;

/// Prints every release and the totals per graph.
pub(crate) fn print(store: &Store, json: bool) -> anyhow::Result<()> {
    let ledger = Ledger::open(store)?;
    ledger.reconcile()?;
    let rows = ledger.rows();
    if json {
        output::data(&serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header([
        "population",
        "graph",
        "date",
        "experiment",
        "trial",
        "target",
        "mechanism",
        "relation",
        "epsilon",
        "dp_delta",
        "randomness",
        "sound",
    ]);
    for row in &rows {
        table.add_row([
            row.population.clone(),
            short(row),
            date(row.time),
            row.experiment.clone(),
            row.trial.to_string(),
            row.release.subject.name().to_owned(),
            row.release.noise.clone(),
            row.release.relation.words().to_owned(),
            rounded(row.release.cost.epsilon()).to_string(),
            row.release.cost.dp_delta().to_string(),
            row.randomness.clone(),
            row.release.sound.to_string(),
        ]);
    }
    output::line(&table.to_string());
    // Never one number: real releases and simulations, sound and claimed costs stand apart.
    let mut groups: BTreeMap<(&str, &str, bool), Vec<&LedgerRow>> = BTreeMap::new();
    for row in &rows {
        groups.entry((&row.population, &row.randomness, row.release.sound)).or_default().push(row);
    }
    for ((population, randomness, sound), rows) in groups {
        // A simulation has ceilings that no deployment would release.
        let is_simulated = randomness != "os";
        let counts = |row: &&&LedgerRow| !(is_simulated && row.release.cost.epsilon().is_infinite());
        let counted: Vec<&Release> = rows.iter().filter(counts).map(|row| &row.release).collect();
        let left_out = if counted.len() < rows.len() { " (without references that protect nothing)" } else { "" };
        let totals = totals(counted);
        let text: Vec<String> = totals
            .iter()
            .map(|(of, cost)| format!("{:.4} nats per {}{}", cost.epsilon(), of.words(), at_delta(cost)))
            .collect();
        let is_drawn_here = rows.iter().all(|row| row.function.as_deref() != Some("released"));
        let kind = match (is_simulated, is_drawn_here) {
            (true, true) => "simulated (seeded noise), if every release were real",
            (true, false) => "simulated, or drawn by another program, if every release were real",
            (false, _) => "released",
        };
        let claim = if sound { "" } else { ", claimed only: it does not hold as executed, or nobody has checked it" };
        let text = if text.is_empty() { "nothing".to_owned() } else { text.join(", ") };
        output::line(&format!("{population}: {text} {kind}{left_out}{claim}"));
    }
    Ok(())
}

fn short(row: &LedgerRow) -> String {
    row.graph.chars().take(12).collect()
}
