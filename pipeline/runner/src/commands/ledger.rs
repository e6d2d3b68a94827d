//! `ledger`: what was released, and what it cost.

use std::collections::BTreeMap;

use comfy_table::Table;
use comfy_table::presets;
use veilgraph_privacy::Relation;
use veilgraph_store::Store;

use crate::ledger::{Ledger, LedgerRow, totals};
use crate::output;

/// Prints every release and the totals per graph.
pub(crate) fn print(store: &Store, json: bool) -> anyhow::Result<()> {
    let rows = Ledger::of(store.root()).rows()?;
    if json {
        output::line(&serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "graph",
        "experiment",
        "trial",
        "target",
        "mechanism",
        "relation",
        "epsilon",
        "randomness",
        "sound",
    ]);
    for row in &rows {
        table.add_row([
            short(row),
            row.experiment.clone(),
            row.trial.to_string(),
            row.release.target.clone(),
            row.release.mechanism.clone(),
            relation(row.release.relation).to_owned(),
            row.release.epsilon.to_string(),
            row.randomness.clone(),
            row.release.sound.to_string(),
        ]);
    }
    output::line(&table.to_string());
    let mut graphs: BTreeMap<String, Vec<&LedgerRow>> = BTreeMap::new();
    for row in &rows {
        graphs.entry(short(row)).or_default().push(row);
    }
    for (graph, rows) in graphs {
        let totals = totals(rows.iter().map(|row| &row.release));
        let text: Vec<String> =
            totals.iter().map(|(of, epsilon)| format!("{epsilon:.4} nats per {}", relation(*of))).collect();
        output::line(&format!(
            "graph {graph}: {} if every release were real (seeded releases are simulations)",
            text.join(", ")
        ));
    }
    Ok(())
}

fn short(row: &LedgerRow) -> String {
    row.graph.chars().take(12).collect()
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::ListBit => "list bit",
        Relation::Edge => "undirected link",
    }
}
