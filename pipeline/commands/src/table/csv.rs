//! A table as CSV: one row for each cell, with everything that the other formats leave out.

use std::collections::BTreeSet;

use veilgraph_contract::Relation;
use veilgraph_statistics::bootstrap_interval;

use super::pivot::PivotTable;
use crate::comparison::Verdict;
use crate::scores::written as digits;

/// Place of the number of trials among the columns that every table has.
const TRIALS: usize = 6;

pub(super) fn written(tables: &[PivotTable]) -> anyhow::Result<String> {
    let mut writer = ::csv::WriterBuilder::new().flexible(false).from_writer(Vec::new());
    let mut headings: Vec<&String> = Vec::new();
    for heading in tables.iter().flat_map(|table| &table.method_columns) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    let all_cells = tables.iter().flat_map(|table| &table.lines).flat_map(|line| line.cells.iter().flatten());
    let relations: BTreeSet<Relation> =
        all_cells.flat_map(|cell| cell.costs.iter().map(|cost| cost.relation)).collect();
    let names_of_costs = relations
        .iter()
        .flat_map(|relation| ["cost", "dp_delta", "claimed"].map(|column| format!("{column}.{relation}")));
    let n_costs = 3 * relations.len() + 1;
    let names = headings.iter().map(|heading| (*heading).clone());
    let fixed = [
        "experiment",
        "dataset",
        "score",
        "column",
        "epsilon",
        "epsilon_edge",
        "trials",
        "mean",
        "standard_deviation",
        "half_width",
        "bootstrap_low",
        "bootstrap_high",
        "against",
        "shared_trials",
        "difference",
        "difference_half_width",
        "difference_bootstrap_low",
        "difference_bootstrap_high",
        "p_value",
        "p_value_holm",
        "verdict",
    ];
    let fixed = fixed.map(str::to_owned);
    writer.write_record(names.chain(fixed.clone()).chain(names_of_costs).chain(["sound".to_owned()]))?;
    for table in tables {
        for line in &table.lines {
            for (at, (column, cell)) in table.columns.iter().zip(&line.cells).enumerate() {
                let column = if table.axis.is_empty() { String::new() } else { column.replace('∞', "inf") };
                let method = headings.iter().map(|heading| {
                    let place = table.method_columns.iter().position(|own| own == *heading);
                    place.map_or(String::new(), |place| line.method[place].clone())
                });
                let Some(cell) = cell else {
                    if let Some(lack) = line.lacks[at] {
                        let mut rest =
                            vec![table.experiment.clone(), table.dataset.clone(), table.metric.name.to_owned(), column];
                        rest.resize(fixed.len() + n_costs, String::new());
                        (rest[TRIALS], rest[fixed.len() - 1]) = ("0".to_owned(), lack.word().to_owned());
                        writer.write_record(method.chain(rest))?;
                    }
                    continue;
                };
                let number = |value: Option<f64>| value.filter(|value| !value.is_nan()).map_or(String::new(), digits);
                let compared = cell.compared;
                let difference = compared.map(|compared| compared.difference);
                let ends =
                    |ends: Option<(f64, f64)>| [number(ends.map(|ends| ends.0)), number(ends.map(|ends| ends.1))];
                let [low, high] = ends(bootstrap_interval(&cell.scores));
                let [difference_low, difference_high] =
                    ends(difference.and_then(|_| bootstrap_interval(&cell.differences)));
                let rest = [
                    table.experiment.clone(),
                    table.dataset.clone(),
                    table.metric.name.to_owned(),
                    column,
                    digits(cell.epsilon),
                    digits(cell.epsilon_edge),
                    cell.summary.trials.to_string(),
                    digits(cell.summary.mean),
                    number(Some(cell.summary.standard_deviation).filter(|_| cell.summary.trials > 1)),
                    number(Some(cell.summary.half_width)),
                    low,
                    high,
                    compared.and(table.against.as_ref()).map_or_else(String::new, |name| name.replace('`', "")),
                    difference.map_or(String::new(), |difference| difference.trials.to_string()),
                    number(difference.map(|difference| difference.mean)),
                    number(difference.map(|difference| difference.half_width)),
                    difference_low,
                    difference_high,
                    number(difference.and_then(|difference| difference.p_value)),
                    number(compared.and_then(|compared| compared.corrected)),
                    compared.map_or("", |compared| Verdict::words(compared.verdict)).to_owned(),
                ];
                let costs = relations.iter().flat_map(|relation| {
                    let cost = cell.costs.iter().find(|cost| cost.relation == *relation);
                    [
                        number(cost.map(|cost| cost.epsilon)),
                        number(cost.map(|cost| cost.dp_delta)),
                        number(cost.map(|cost| cost.claimed_epsilon.unwrap_or(cost.epsilon))),
                    ]
                });
                writer.write_record(method.chain(rest).chain(costs).chain([cell.is_sound().to_string()]))?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
