//! What the graphs that a server builds tell about links.

use veilgraph_evaluate::metric::{self, Metric};

use super::Asked;
use super::words::rests_on_the_same_reports;
use crate::summary::Row;

/// A graph that the server builds from reports, as far as it tells about links.
pub(super) struct TellingGraph<'a> {
    variant: &'a str,
    /// The share of the true links that it holds.
    recall: f64,
    /// The share of its links that are true.
    precision: f64,
}

impl TellingGraph<'_> {
    fn f1(&self) -> f64 {
        2.0 * self.recall * self.precision / (self.recall + self.precision).max(1e-9)
    }

    pub(super) fn in_words(&self) -> String {
        let Self { variant, recall, precision } = self;
        let named = if variant.is_empty() { "it" } else { variant };
        let (recall, precision) = (whole_percent(*recall), whole_percent(*precision));
        format!("{named} holds {recall} of the true links, and {precision} of its links are true")
    }

    /// The same for a column of a table.
    pub(super) fn in_short(&self) -> String {
        let Self { variant, recall, precision } = self;
        let named = if variant.is_empty() { String::new() } else { format!("{variant}: ") };
        format!("{named}{} of links, {} true", whole_percent(*recall), whole_percent(*precision))
    }
}

/// Whole per cent, of which nearly everything is not everything.
fn whole_percent(share: f64) -> String {
    let percent = 100.0 * share;
    if share < 1.0 && percent >= 99.5 { "over 99 %".to_owned() } else { format!("{percent:.0} %") }
}

impl Asked<'_> {
    /// Of the graphs that this experiment builds from the row's reports, the one of highest F1. A graph that is made larger on
    /// purpose hides what the server knows.
    pub(super) fn most_telling_graph(&self, row: &Row) -> Option<TellingGraph<'_>> {
        let mut most_telling: Option<TellingGraph> = None;
        for other in self.rows.iter().filter(|other| rests_on_the_same_reports(&other.cell, &row.cell)) {
            let share = |metric: &Metric| other.summary(metric.name).map(|summary| summary.mean);
            let Some((recall, precision)) = share(&metric::GRAPH_RECALL).zip(share(&metric::GRAPH_PRECISION)) else {
                continue;
            };
            let graph = TellingGraph { variant: &other.cell.variant, recall, precision };
            if most_telling.as_ref().is_none_or(|known| graph.f1() > known.f1()) {
                most_telling = Some(graph);
            }
        }
        most_telling
    }
}
