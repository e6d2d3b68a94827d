//! One graph of those that public knowledge allows, as it is drawn.

use std::fmt;

use super::surrogate::Ingest;

/// Words of a node on average: enough that hardly any node has too few to tell its class.
const WORDS: f64 = 40.0;

/// One point of what is known, as a graph that can be drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub nodes: u64,
    pub mean_degree: f64,
    pub degree_spread: f64,
    pub homophily: f64,
    pub classes: u32,
    /// Accuracy on features alone, if nodes have features.
    pub features_accuracy: Option<f64>,
    /// Share of a node's words that tell its class.
    pub topic_share: f64,
    pub seed: u32,
}

impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self { nodes, mean_degree, degree_spread, homophily, .. } = self;
        write!(
            formatter,
            "{nodes} nodes, mean degree {mean_degree:.1}, spread {degree_spread:.2}, homophily {homophily:.2}"
        )
    }
}

impl Point {
    /// The share of nodes that stand between two classes.
    ///
    /// In real graphs, the nodes that features do not tell are partly those that links do not tell either. Half of the
    /// errors of a classifier on features are taken for such nodes, as far as the homophily leaves room for them
    /// (docs/benchmarks/advise.md).
    fn ambiguous_share(&self) -> f64 {
        const MOST_HOMOPHILY: f64 = 0.97;
        let errors = 1.0 - self.features_accuracy.unwrap_or(1.0);
        let room = 2.0 * (1.0 - (self.homophily / MOST_HOMOPHILY).sqrt());
        errors.min(room).max(0.0)
    }

    /// The tables that say how it is drawn.
    pub(super) fn ingest(&self) -> Ingest {
        let Self { nodes, mean_degree, degree_spread, classes, topic_share, seed, .. } = self;
        let features = if self.features_accuracy.is_some() { 1433 } else { 0 };
        let ambiguous = self.ambiguous_share();
        // Links of nodes between two classes lower the homophily that is seen.
        let homophily = (self.homophily / (1.0 - ambiguous / 2.0).powi(2)).min(1.0);
        Ingest {
            dataset: "synthetic".to_owned(),
            more: format!(
                "[ingest.synthetic]\nnodes = {nodes}\nmean_degree = {mean_degree:?}\ndegree_spread = {degree_spread:?}\n\
                 homophily = {homophily:?}\nclasses = {classes}\nambiguous_share = {ambiguous:?}\nseed = {seed}\n\
                 features = {features}\nwords = {WORDS:?}\ntopic_share = {topic_share:?}\n"
            ),
        }
    }
}

/// A sequence of numbers between 0 and 1 that fills the interval evenly.
///
/// # Source
/// van der Corput (1935); several bases together are the sequence of Halton (1960).
pub(super) fn van_der_corput(mut number: u32, base: u32) -> f64 {
    let (mut place, mut weight) = (0.0, 1.0);
    while number > 0 {
        weight /= f64::from(base);
        place += weight * f64::from(number % base);
        number /= base;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_fill_the_interval() {
        let places: Vec<f64> = (1..8).map(|number| van_der_corput(number, 2)).collect();
        assert_eq!(places, [0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]);
    }
}
