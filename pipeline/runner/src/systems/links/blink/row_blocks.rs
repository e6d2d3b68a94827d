//! One graph as several tasks: claims are paired, and pairs counted and selected, one row block at a time, and merged.

use std::num::NonZeroU32;

use toml::Value;
use veilgraph_construct::{
    Construct, CountKnownPairs, FindThreshold, LikelyPairs, MergeGraph, Params, SelectPairs, ThresholdParams, Variant,
};
use veilgraph_contract::NoParams;
use veilgraph_estimate::{MergeEvidence, PairReports, PairRows};
use veilgraph_posterior::{LikelyThreshold, LogitCounts, RowBlock};
use veilgraph_privacy::NoisyLinks;

use super::TABLE;
use crate::config::ConfigError;
use crate::config::sweep::SweptCell;
use crate::plan::{Branch, Plan, Run};

/// The number of row blocks into which a graph is divided. Merged artifacts are the same bytes for any number.
#[derive(Clone, Copy)]
pub(super) struct RowBlocks(NonZeroU32);

impl RowBlocks {
    /// The field of `[privatize.links]` that gives the number.
    pub(super) const FIELD: &'static str = "row_blocks";
    /// A merge opens one file for each row block, and a process may open about a thousand.
    const MOST: u32 = 512;

    /// The number that the config gives; one without it.
    pub(super) fn read(plan: &mut Plan) -> Result<Self, ConfigError> {
        plan.read_field(TABLE, Self::FIELD);
        let given = plan.config.table(TABLE).remove(Self::FIELD).unwrap_or(Value::Integer(1));
        let number = given.as_integer().filter(|number| (1..=i64::from(Self::MOST)).contains(number));
        number.and_then(|number| NonZeroU32::new(number as u32)).map(Self).ok_or_else(|| {
            let problem = format!(
                "row_blocks divides the work of one graph and changes no result: give one whole number from 1 to {}, not a \
                 list",
                Self::MOST
            );
            plan.config.error(&format!("{TABLE}.{}", Self::FIELD), &problem)
        })
    }

    /// The same number where reports are lists. Reports as bits need all of their memory at once, so they are not divided.
    pub(super) fn at(self, epsilon_links: f64, plan: &mut Plan) -> Self {
        if self.0.get() == 1 || !NoisyLinks::are_dense(epsilon_links) {
            return self;
        }
        plan.warn(format!(
            "reports with {epsilon_links} nats for each bit are kept as bits, so row_blocks divides nothing there"
        ));
        Self(NonZeroU32::MIN)
    }

    /// The claims about all pairs.
    pub(super) fn paired(self, plan: &mut Plan, reports: &Branch) -> Result<Branch, ConfigError> {
        if self.0.get() == 1 {
            return plan.run::<PairReports>(&[reports], &NoParams {}, Run::default());
        }
        let blocks = self.each("pair", |block, step| plan.run::<PairRows>(&[reports], &block, named(step)))?;
        plan.run::<MergeEvidence>(&blocks.iter().collect::<Vec<_>>(), &NoParams {}, Run::default())
    }

    /// The graph of every posterior.
    pub(super) fn graphs(
        self,
        plan: &mut Plan,
        beliefs: &[Branch],
        cell: &SweptCell<Params>,
    ) -> Result<Vec<Branch>, ConfigError> {
        // A soft graph lists no pairs.
        if self.0.get() == 1 || cell.params.variant == Variant::Soft {
            return plan.sweep_cells::<Construct>(beliefs, "construct", std::slice::from_ref(cell));
        }
        beliefs.iter().map(|beliefs| self.graph(plan, &beliefs.with(&cell.choices), &cell.params)).collect()
    }

    /// A hard or hybrid graph.
    fn graph(self, plan: &mut Plan, beliefs: &Branch, params: &Params) -> Result<Branch, ConfigError> {
        let table = "construct";
        // A hard graph has no threshold, so the slot for it stays empty.
        let mut with_threshold = beliefs.clone();
        with_threshold.mark_absent::<LikelyThreshold>();
        if params.variant == Variant::Hybrid {
            let counted =
                self.each("count", |block, step| plan.run::<CountKnownPairs>(&[beliefs], &block, named(step)))?;
            let counted: Vec<&Branch> = counted.iter().collect();
            let run = Run { table, ..named("threshold") };
            with_threshold = plan.run::<FindThreshold>(&counted, &ThresholdParams::from(params), run)?;
        }
        let select =
            |block, step: &str| plan.run::<SelectPairs>(&[&with_threshold], &block, Run { table, ..named(step) });
        let selected = self.each("select", select)?;
        let selected: Vec<&Branch> = selected.iter().collect();
        let mut graph = plan.run::<MergeGraph>(&selected, &NoParams {}, Run { table, ..Run::default() })?;
        // These are steps on the way to the graph; nothing else reads them.
        graph.mark_absent::<LogitCounts>();
        graph.mark_absent::<LikelyThreshold>();
        graph.mark_absent::<LikelyPairs>();
        Ok(graph)
    }

    /// One task for each row block, with a name of its own.
    fn each(
        self,
        what: &str,
        mut task: impl FnMut(RowBlock, &str) -> Result<Branch, ConfigError>,
    ) -> Result<Vec<Branch>, ConfigError> {
        let blocks = (0..self.0.get()).map(|index| RowBlock { index, row_blocks: self.0 });
        blocks.map(|block| task(block, &format!("{what}-{}-of-{}", block.index + 1, self.0))).collect()
    }
}

fn named(step: &str) -> Run<'_> {
    Run { step, ..Run::default() }
}
