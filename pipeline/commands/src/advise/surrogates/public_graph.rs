//! Public graphs that resemble what is known of the private one.

use std::fmt;
use std::path::Path;

use veilgraph_exposure::PublicKnowledge;
use veilgraph_runner::belief::Knowledge;
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::datasets::{self, Statistics};

/// Public graphs have no more nodes: a network is trained for every budget on each of them.
const MOST_NODES: usize = 25_000;

/// Spreads of degrees below this one count as this one where graphs are compared.
const LEAST_SPREAD: f64 = 0.5;

/// A public graph that takes the place of the private one.
#[derive(Clone, Debug)]
pub(super) struct PublicGraph {
    /// Its name among the datasets.
    pub name: String,
    pub nodes: u64,
    statistics: Statistics,
    /// Whether networks read its features: those of the private graph have features as well.
    pub reads_features: bool,
}

impl fmt::Display for PublicGraph {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Statistics { classes, mean_degree, degree_spread, homophily } = self.statistics;
        write!(
            formatter,
            "{}: {} nodes, {classes} classes, mean degree {mean_degree:.1}, spread {degree_spread:.2}, homophily \
             {homophily:.2}",
            self.name, self.nodes
        )
    }
}

impl PublicGraph {
    /// Its number of nodes and its degrees.
    pub(super) fn degrees(&self) -> PublicKnowledge {
        let Statistics { mean_degree, degree_spread, .. } = self.statistics;
        PublicKnowledge { nodes: self.nodes, mean_degree, degree_spread }
    }

    /// Its number of classes.
    pub(super) fn classes(&self) -> u32 {
        self.statistics.classes
    }

    /// The `number` public graphs in the data folder that are nearest to the middle of what is known.
    ///
    /// # Errors
    /// When there is no data folder, or it holds too few graphs with classes.
    pub(super) fn nearest(
        knowledge: &Knowledge,
        data_dir: Option<&Path>,
        number: u32,
    ) -> Result<Vec<Self>, ConfigError> {
        if number == 0 {
            return Ok(Vec::new());
        }
        let Some(data_dir) = data_dir else {
            let problem = "--public-graphs: say where they are with --data-dir; `veilgraph fetch cora --data-dir data` \
                           downloads one into the folder `data`";
            return Err(ConfigError(problem.to_owned()));
        };
        datasets::check_data_dir(data_dir)?;
        let reads_features = knowledge.features_accuracy.is_some();
        let mut candidates = Vec::new();
        for (name, dataset) in datasets::all() {
            let (Some(statistics), Some(nodes)) = (dataset.statistics, dataset.n_nodes) else { continue };
            if nodes <= MOST_NODES && (dataset.has_features() || !reads_features) {
                let graph = Self { name, nodes: nodes as u64, statistics, reads_features };
                candidates.push((graph.distance(knowledge), graph, dataset));
            }
        }
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The nearest first, so that no more files are compared with their checksums than are needed.
        let at_hand = candidates.into_iter().filter(|(_, _, dataset)| dataset.is_in(data_dir));
        let graphs: Vec<Self> = at_hand.map(|(_, graph, _)| graph).take(number as usize).collect();
        if graphs.len() < number as usize {
            let features = if reads_features { " and features" } else { "" };
            return Err(ConfigError(format!(
                "--public-graphs: {} holds {} public graphs with classes{features} and at most {MOST_NODES} nodes; ask for \
                 fewer, or download more with `veilgraph fetch`",
                data_dir.display(),
                graphs.len()
            )));
        }
        Ok(graphs)
    }

    /// How far its statistics are from the middle of what is known.
    ///
    /// One unit is a factor of two in the mean degree, of 1.5 in the spread, of three in the number of classes and of eight
    /// in the number of nodes (a budget is fitted to it), and a difference of 0.1 in homophily.
    fn distance(&self, knowledge: &Knowledge) -> f64 {
        let Statistics { classes, mean_degree, degree_spread, homophily } = self.statistics;
        // Degrees that hardly spread are equally far from those of every real graph.
        let spread = |spread: f64| spread.max(LEAST_SPREAD);
        let factors = |a: f64, b: f64, unit: f64| (a / b).ln() / unit.ln();
        let of_homophily = knowledge.homophily.as_ref().map_or(0.0, |known| homophily - known.range.middle());
        let of_classes = knowledge.classes.map_or(0.0, |known| factors(f64::from(classes), f64::from(known), 3.0));
        let differences = [
            factors(mean_degree, knowledge.mean_degree.range.middle(), 2.0),
            factors(spread(degree_spread), spread(knowledge.degree_spread.range.middle()), 1.5),
            factors(self.nodes as f64, knowledge.nodes as f64, 8.0),
            of_classes,
            of_homophily / 0.1,
        ];
        differences.iter().map(|difference| difference * difference).sum()
    }
}
