//! A graph that belongs to nobody: degree-corrected blocks with power-law or log-normal degrees and topical words.

mod links;
mod weighted;

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use veilgraph_contract::{Memory, StageRng};

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

/// Draws a graph of the model, whose parameters were checked.
pub(crate) fn generate(params: &SyntheticParams, memory: Memory) -> Result<RawGraph, Error> {
    check_memory(params, memory)?;
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

/// Refuses a graph that would not fit into the memory.
///
/// A node has a name, classes and a place in lists, each of its links stands among the pairs and in two rows, each of its words in two
/// lists, and a word has a frequency and a rank in each class. 500,000 nodes of the default model were measured to take 320 MB, and
/// are counted as 255.
fn check_memory(params: &SyntheticParams, memory: Memory) -> Result<(), Error> {
    const OF_NODE: f64 = 160.0;
    const OF_LINK: f64 = 32.0;
    const OF_WORD_OF_NODE: f64 = 16.0;
    const OF_WORD: f64 = 16.0;
    const OF_RANK: f64 = 4.0;
    let words = if params.features > 0 { params.words } else { 0.0 };
    let of_node = OF_NODE + OF_LINK * params.mean_degree / 2.0 + OF_WORD_OF_NODE * words;
    let of_words = params.features as f64 * (OF_WORD + OF_RANK * params.classes as f64);
    let needed = (params.nodes as f64 * of_node + of_words) as u64;
    memory.check("this graph", needed).map_err(|too_large| {
        let remedy = "ask for fewer nodes, links or features, or raise --memory-limit";
        Error::new("[ingest.synthetic]", "", too_large.to_string(), remedy)
    })
}

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
