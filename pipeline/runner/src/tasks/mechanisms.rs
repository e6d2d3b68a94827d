//! The mechanisms beside Blink: what their nodes send, and how the server comes to a graph.

use std::sync::Arc;

use veilgraph_construct::{ConstructFromCounts, ConstructFromEntries, ConstructFromReports};
use veilgraph_estimate::{GroupAtRandom, GroupByCounts};
use veilgraph_graph::Construction;
use veilgraph_privacy::Mechanism;
use veilgraph_privatize::{CountParams, PrivatizeCounts, PrivatizeEntries};

use super::stages::{Release, wire};
use super::{Cells, Ingested, List, Repetition};
use crate::config::{Cell, MetricGroup};
use crate::runnable::Bound;

/// One cell of a mechanism.
pub(super) struct Given<'a> {
    pub from: Ingested,
    pub privatize: &'a veilgraph_privatize::Params,
    pub construct: Cell<veilgraph_construct::Params>,
    /// Of the server's part between the rounds of LDPGen.
    pub estimate: &'a veilgraph_estimate::Params,
    pub population: &'a str,
    pub label: Vec<String>,
}

impl List<'_> {
    /// Every trial of a mechanism that gives its graph without a posterior, and every network on it.
    pub(super) fn given(&mut self, cells: &Cells, cell: &Given) {
        let mechanism = cell.privatize.mechanism;
        let variant = if mechanism == Mechanism::Solitude { Construction::Learned } else { Construction::Given };
        let (mut trials, mut graphs) = (Vec::new(), Vec::new());
        for trial in 0..self.config.trials + cells.search_trials {
            let (privatize, graph) = match mechanism {
                Mechanism::LocalDpGcn => self.entries(cell, trial),
                Mechanism::LdpGen => self.rounds(cell, trial),
                _ => self.reports(cell, trial),
            };
            trials.push(Repetition { from: cell.from, privatize, estimate: None, trial });
            graphs.extend(graph);
        }
        if graphs.is_empty() {
            return;
        }
        let label = [cell.label.as_slice(), &cell.construct.label].concat();
        if self.scores(MetricGroup::LinkError) || self.scores(MetricGroup::Density) {
            for (&trial, &graph) in self.scored(&trials).iter().zip(&graphs) {
                self.evaluate_graph(trial, graph, variant, &label);
            }
        }
        self.networks(&cells.networks_of(mechanism), &trials, &graphs, variant, &label);
    }

    /// Lists of bits: the task whose reports these are, and the graph if that far.
    fn reports(&mut self, cell: &Given, trial: u32) -> (usize, Option<usize>) {
        let privatize = self.privatize(cell.privatize, cell.from.ingest, cell.population, &cell.label, trial);
        let slots = || vec![vec![wire(privatize, "noisy_links")], vec![wire(privatize, "noisy_degrees")]];
        let runnable = Arc::new(Bound::<ConstructFromReports>::new(cell.construct.params.clone()));
        (privatize, self.reaches("construct").then(|| self.push(runnable, &cell.label, Some(trial), slots())))
    }

    /// Lists of real entries.
    fn entries(&mut self, cell: &Given, trial: u32) -> (usize, Option<usize>) {
        let release = Release { params: cell.privatize, population: cell.population, label: &cell.label, trial };
        let runnable = Arc::new(Bound::<PrivatizeEntries>::new(cell.privatize.clone()));
        let privatize = self.release(runnable, &release, vec![vec![wire(cell.from.ingest, "links")]]);
        let slots = vec![vec![wire(privatize, "noisy_entries")]];
        let runnable = Arc::new(Bound::<ConstructFromEntries>::new(cell.construct.params.clone()));
        (privatize, self.reaches("construct").then(|| self.push(runnable, &cell.label, Some(trial), slots)))
    }

    /// Two rounds of counts, with the server's groups before each.
    fn rounds(&mut self, cell: &Given, trial: u32) -> (usize, Option<usize>) {
        let label = |round: u8| [cell.label.as_slice(), &[format!("round-{round}")]].concat();
        let coins = Arc::new(Bound::<GroupAtRandom>::new(cell.estimate.clone()));
        let coins = self.push(coins, &label(0), Some(trial), vec![vec![wire(cell.from.ingest, "nodes")]]);
        let first = self.round(cell, 1, coins, trial);
        if !self.reaches("estimate") {
            return (first, None);
        }
        let groups = self.groups(cell, &label(1), vec![vec![wire(first, "noisy_counts")], Vec::new()], trial);
        let second = self.round(cell, 2, groups, trial);
        let slots = vec![vec![wire(second, "noisy_counts")], vec![wire(groups, "groups")]];
        let regrouped = self.groups(cell, &label(2), slots, trial);
        let slots = vec![vec![wire(groups, "groups"), wire(regrouped, "groups")], vec![wire(second, "noisy_counts")]];
        let runnable = Arc::new(Bound::<ConstructFromCounts>::new(cell.construct.params.clone()));
        let graph_label = [cell.label.as_slice(), &cell.construct.label].concat();
        (second, self.reaches("construct").then(|| self.push(runnable, &graph_label, Some(trial), slots)))
    }

    fn round(&mut self, cell: &Given, round: u8, groups: usize, trial: u32) -> usize {
        let params = CountParams { links: cell.privatize.clone(), round };
        let label = [cell.label.as_slice(), &[format!("round-{round}")]].concat();
        let release = Release { params: cell.privatize, population: cell.population, label: &label, trial };
        let slots = vec![vec![wire(cell.from.ingest, "links")], vec![wire(groups, "groups")]];
        self.release(Arc::new(Bound::<PrivatizeCounts>::new(params)), &release, slots)
    }

    fn groups(&mut self, cell: &Given, label: &[String], slots: Vec<Vec<super::Wire>>, trial: u32) -> usize {
        self.push(Arc::new(Bound::<GroupByCounts>::new(cell.estimate.clone())), label, Some(trial), slots)
    }
}
