//! A graph that belongs to nobody: degree-corrected blocks with power-law or log-normal degrees and topical words.

mod links;
mod weighted;

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use veilgraph_contract::StageRng;

use crate::error::Error;
use crate::params::SyntheticParams;
use crate::raw::RawGraph;
use links::draw_links;
use weighted::Weighted;

/// What links and words of the nodes follow.
#[derive(Clone, Copy)]
struct Topics<'a> {
    /// The class of each node.
    classes: &'a [u16],
    /// The other class of each node that stands between two.
    second: &'a [Option<u16>],
}

impl Topics<'_> {
    /// One of the node's classes.
    fn one_of(self, node: usize, rng: &mut ChaCha8Rng) -> usize {
        let second = self.second[node].filter(|_| rng.random::<bool>());
        usize::from(second.unwrap_or(self.classes[node]))
    }

    /// How much of the node belongs to a class.
    fn share_in(self, node: usize, class: usize) -> f64 {
        let is_own = f64::from(u8::from(usize::from(self.classes[node]) == class));
        let whole = |second: u16| f64::midpoint(is_own, f64::from(u8::from(usize::from(second) == class)));
        self.second[node].map_or(is_own, whole)
    }
}

/// Draws a graph of the model.
pub(crate) fn generate(params: &SyntheticParams) -> Result<RawGraph, Error> {
    check(params)?;
    let source = StageRng::new(params.seed, "synthetic", 0);
    // Class sizes fall gently, as in citation graphs: the largest is some three times the smallest.
    let shares: Vec<f64> =
        (0..params.classes).map(|class| 1.0 / (1.0 + 2.0 * class as f64 / params.classes as f64)).collect();
    let classes = draw_classes(params.nodes, &shares, &mut source.fast_stream("classes", 0));
    let second = draw_second_classes(params, &classes, &shares, &mut source.fast_stream("second classes", 0));
    let topics = Topics { classes: &classes, second: &second };
    // Links and words of nodes have their own streams of random words, so that both may be drawn side by side.
    let (pairs, features) = rayon::join(
        || draw_links(params, topics, &mut source.fast_stream("links", 0)),
        || {
            let words = || draw_words(params, topics, &mut source.fast_stream("words", 0));
            (params.features > 0).then(|| (params.features, words()))
        },
    );
    Ok(RawGraph {
        names: (0..params.nodes).map(|node| node.to_string()).collect(),
        pairs: Some(pairs),
        features,
        classes: Some((params.classes, classes.into_iter().map(Some).collect())),
        class_names: Vec::new(),
        splits: None,
    })
}

fn check(params: &SyntheticParams) -> Result<(), Error> {
    let wrong = |field: &str, problem: String| {
        Err(Error::new("[ingest.synthetic]", format!("{field}: "), problem, "docs/config.md describes the fields"))
    };
    if params.nodes < 3 || params.nodes > u32::MAX as usize {
        return wrong("nodes", format!("{} is not a number of nodes from 3 on", params.nodes));
    }
    if params.classes < 2 || params.classes > params.nodes.min(65_535) {
        return wrong("classes", format!("{} is not between 2 and the number of nodes", params.classes));
    }
    if !(params.mean_degree > 0.0 && params.mean_degree <= (params.nodes - 1) as f64 / 4.0) {
        return wrong(
            "mean_degree",
            format!("{} is not positive and at most a quarter of the nodes", params.mean_degree),
        );
    }
    if !(params.exponent > 2.0 && params.exponent.is_finite()) {
        return wrong("exponent", format!("{} is not above 2", params.exponent));
    }
    if let Some(spread) = params.degree_spread
        && !(spread > 0.0 && spread <= MOST_SPREAD)
    {
        return wrong("degree_spread", format!("{spread} is not positive and at most {MOST_SPREAD}"));
    }
    let shares = [
        ("homophily", params.homophily),
        ("topic_share", params.topic_share),
        ("ambiguous_share", params.ambiguous_share),
    ];
    for (field, share) in shares {
        if !(0.0..=1.0).contains(&share) {
            return wrong(field, format!("{share} does not lie in [0, 1]"));
        }
    }
    if params.features > 0 && !(params.words > 0.0 && params.words <= params.features as f64 / 2.0) {
        return wrong("words", format!("{} is not positive and at most half the features", params.words));
    }
    Ok(())
}

/// Largest spread of degrees that is drawn.
const MOST_SPREAD: f64 = 10.0;

fn draw_classes(nodes: usize, shares: &[f64], rng: &mut ChaCha8Rng) -> Vec<u16> {
    let index = Weighted::new(shares);
    // The first nodes get one class each, so that no class is empty.
    (0..nodes).map(|node| if node < shares.len() { node } else { index.draw(rng) } as u16).collect()
}

/// Draws a second class, other than the first, for the nodes that stand between two.
fn draw_second_classes(
    params: &SyntheticParams,
    classes: &[u16],
    shares: &[f64],
    rng: &mut ChaCha8Rng,
) -> Vec<Option<u16>> {
    let index = Weighted::new(shares);
    let second = |&class: &u16| {
        (rng.random::<f64>() < params.ambiguous_share).then(|| {
            loop {
                let other = index.draw(rng) as u16;
                if other != class {
                    return other;
                }
            }
        })
    };
    classes.iter().map(second).collect()
}

/// Draws bags of words: common words by Zipf's law, topical words by a shuffled Zipf's law per class.
fn draw_words(params: &SyntheticParams, topics: Topics, rng: &mut ChaCha8Rng) -> Vec<Vec<(u32, f32)>> {
    let zipf: Vec<f64> = (0..params.features).map(|rank| 1.0 / (rank as f64 + 20.0)).collect();
    let common = Weighted::new(&zipf);
    let words_of_topics: Vec<Vec<u32>> = (0..params.classes)
        .map(|_| {
            let mut words: Vec<u32> = (0..params.features as u32).collect();
            rand::seq::SliceRandom::shuffle(words.as_mut_slice(), rng);
            words
        })
        .collect();
    (0..params.nodes)
        .map(|node| {
            let wanted = 1 + (2.0 * (params.words - 1.0).max(0.0) * rng.random::<f64>()).round() as usize;
            let mut words = BTreeMap::new();
            while words.len() < wanted.min(params.features) {
                let rank = common.draw(rng);
                let topical = rng.random::<f64>() < params.topic_share;
                let word = if topical { words_of_topics[topics.one_of(node, rng)][rank] } else { rank as u32 };
                words.insert(word, 1.0);
            }
            words.into_iter().collect()
        })
        .collect()
}
