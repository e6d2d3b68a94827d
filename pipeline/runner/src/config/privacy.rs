//! The table `[privacy]`: whose data are released, by which noise, and how far.

use std::path::PathBuf;

use serde::Deserialize;
use veilgraph_contract::Randomness;

use super::ConfigError;
use super::source::Source;
use crate::belief::{Knowledge, StatedKnowledge};
use crate::ledger::Budgets;

/// The `[privacy]` table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Privacy {
    /// Where the noise comes from.
    #[serde(default)]
    pub randomness: Randomness,
    /// Most that all releases about the same nodes may cost: nats per list bit, or a table by relation.
    #[serde(default)]
    pub budget: Budgets,
    /// Whom the budget belongs to (default: the dataset).
    pub population: Option<String>,
    /// The folder of the artifacts, from the folder of the config: a budget counts what is written there.
    pub store: Option<PathBuf>,
    /// Whether the server holds the features of the nodes.
    #[serde(default)]
    pub features: Holding,
    /// What everybody knows about the graph; beliefs are judged by it.
    pub public_knowledge: Option<StatedKnowledge>,
    /// The highest belief about an average pair that a deployment accepts without asking.
    pub at_most_belief: Option<f64>,
}

/// Who holds a kind of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holding {
    /// Everybody, the server too.
    #[default]
    Public,
    /// Its owners alone: no file of it lies where the server can read.
    Withheld,
}

impl Privacy {
    /// Refuses public knowledge that no graph has, and a line on belief that cannot be drawn.
    pub(super) fn check(&self, source: &Source) -> Result<(), ConfigError> {
        let knowledge = self.public_knowledge.as_ref().map(Knowledge::stated).transpose();
        let knowledge = knowledge.map_err(|ConfigError(problem)| source.at("privacy.public_knowledge", &problem))?;
        let Some(line) = self.at_most_belief else { return Ok(()) };
        let wrong = |problem: &str| Err(source.at("privacy.at_most_belief", problem));
        if !(line > 0.0 && line < 1.0) {
            return wrong(&format!("{line} does not lie between 0 and 1"));
        }
        match knowledge {
            None => wrong(
                "a belief starts from how many pairs are linked; state public_knowledge = { nodes = …, mean_degree = … }",
            ),
            Some(knowledge) if knowledge.base_rate().high >= line => wrong(&format!(
                "a pair is linked with probability up to {} before any report, so every release would cross this line",
                knowledge.base_rate().high
            )),
            Some(_) => Ok(()),
        }
    }
}
