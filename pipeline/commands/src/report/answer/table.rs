//! The answer in numbers: one line for each budget.

use veilgraph_evaluate::metric;

use super::words::{called, points};
use super::{Asked, Method};
use crate::comparison::Verdict;
use crate::protected::{Protected, Standing};
use crate::summary::{Row, with_interval};

/// A number that is not there.
const NOTHING: &str = "–";

impl Asked<'_> {
    pub(super) fn table(&self, method: &Method) -> (Vec<String>, Vec<Vec<String>>) {
        let mut head = vec![format!("nats per {}", self.unit(method))];
        let other = method.budgets.first().and_then(|at| self.protected.other_budget(&at.row.cell));
        head.extend(other.map(|(_, unit)| format!("nats per {unit}")));
        head.extend(["accuracy %", "best floor", "points beside it", "verdict", "graph, network"].map(str::to_owned));
        if self.protected == Protected::Links {
            head.push("graph of highest F1 from these reports".to_owned());
        }
        head.push("trials".to_owned());
        let mut lines = Vec::new();
        for at in &method.budgets {
            let floor = self.reference(at.row, Standing::Floor);
            let mut line = vec![short(at.budget)];
            if other.is_some() {
                line.push(
                    self.protected.other_budget(&at.row.cell).map_or(NOTHING.to_owned(), |(nats, _)| short(nats)),
                );
            }
            line.push(accuracy(at.row));
            line.push(floor.map_or(NOTHING.to_owned(), |floor| format!("{} {}", called(floor), accuracy(floor))));
            line.push(at.compared.map_or(NOTHING.to_owned(), |compared| points(&compared)));
            line.push(at.compared.map_or(NOTHING, |compared| Verdict::words(compared.verdict)).to_owned());
            let cell = &at.row.cell;
            let fraction = cell.choice("privatize.links.degree_fraction").map(|share| format!("fraction {share}"));
            let built = [cell.variant.clone(), cell.model.clone(), fraction.unwrap_or_default()];
            line.push(built.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "));
            if self.protected == Protected::Links {
                let graph = self.most_telling_graph(at.row);
                line.push(graph.map_or(NOTHING.to_owned(), |graph| graph.in_short()));
            }
            line.push(at.row.summary(metric::ACCURACY.name).map_or(0, |summary| summary.trials).to_string());
            lines.push(line);
        }
        // A column that says nothing in any line is left out.
        let says = |column: &usize| lines.iter().any(|line: &Vec<String>| line[*column] != NOTHING);
        let kept: Vec<usize> = (0..head.len()).filter(says).collect();
        let of = |cells: &Vec<String>| kept.iter().map(|&column| cells[column].clone()).collect::<Vec<_>>();
        (of(&head), lines.iter().map(of).collect())
    }
}

/// Nats with at most three digits after the point.
pub(super) fn short(nats: f64) -> String {
    ((nats * 1e3).round() / 1e3).to_string()
}

fn accuracy(row: &Row) -> String {
    let summary = row.summary(metric::ACCURACY.name);
    summary.map_or(NOTHING.to_owned(), |summary| with_interval(&summary, &metric::ACCURACY))
}
