//! Why a model cannot be trained or applied.

use bytesize::ByteSize;
use veilgraph_graph::Construction;

/// Why a model was not trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// A loss was no finite number; in which epoch.
    #[error("the loss was not a finite number in epoch {0}; lower the learning rate or the weight decay")]
    Diverged(usize),
    /// Attention over all pairs would not fit into memory; number of pairs, and the most that are taken.
    #[error(
        "soft attention lists all {0} pairs of nodes, more than {1}; use construct.variant = \"hybrid\" or another model"
    )]
    TooManyPairs(usize, usize),
    /// Learned weights of all pairs would not fit into memory; number of pairs, and the most that are taken.
    #[error("solitude learns a weight for each of {0} pairs of nodes, more than {1}; choose another mechanism")]
    TooManyWeights(usize, usize),
    /// No rule says how attention would use learned links.
    #[error("solitude learns links for gcn and graphsage; its published figures with gat are numerical failures")]
    LearnedAttention,
    /// Graph and features differ in their number of nodes; both numbers.
    #[error("{0} nodes in the graph, {1} in the features")]
    Mismatch(usize, usize),
    /// Features or labels would have to be propagated over links that are learned; how many steps.
    #[error("nothing can be propagated ({0} hops) over links that solitude learns; set the hops to 0")]
    LearnedPropagation(u32),
    /// A feature overflows when it is propagated or rescaled; which one.
    #[error(
        "the features cannot be propagated: {0}; rescale them (rescale = \"root-mean-square\") or raise the budget"
    )]
    Propagation(String),
    /// A class cannot be learned; the class, and the number of labelled training nodes.
    #[error(
        "class {0} has no node among the {1} labelled training nodes; choose another split (ingest.split, seed), or remove the class from the labels"
    )]
    NoExample(usize, usize),
    /// Nothing can be learned from.
    #[error("no training node has a label; choose a split with training nodes (ingest.split)")]
    NoTraining,
    /// Noise needs another class to turn into; how many there are.
    #[error("noisy labels need at least two classes, not {0}; choose another dataset")]
    TooFewClasses(usize),
    /// No training node receives a label in so many steps.
    #[error(
        "no label reaches a training node in {0} hops; set train.labels = \"forward\", or choose a graph with links"
    )]
    NothingPropagates(u32),
    /// The links to learn from are not listed; how the graph was built.
    #[error(
        "link prediction learns from listed links, and a graph of this kind ({0:?}) lists none that are certain; use construct.variant = \"hard\""
    )]
    UnlistedLinks(Construction),
    /// There are no links, or too few other pairs; links, and all pairs.
    #[error("{0} of {1} pairs are links; link prediction needs a link, and at least as many other pairs")]
    NothingToTellApart(usize, usize),
    /// No evaluation can be done.
    #[error("the validation pairs lack links or other pairs; choose a split of the links with a validation share")]
    NoValidationLinks,
    /// No epoch can be chosen.
    #[error("no validation node has a label; choose a split with validation nodes (ingest.split)")]
    NoValidation,
    /// A model meets a graph with another number of features.
    #[error("the model was trained on {trained} features, this graph has {here}; take a graph with the same features")]
    Features {
        /// Features of the model.
        trained: usize,
        /// Features of the graph.
        here: usize,
    },
    /// Parameters are not those of the network; how many there are, and how many it has.
    #[error("the file holds {0} parameters, not the {1} of its network in name and shape; train the model again")]
    Parameters(usize, usize),
    /// A parameter holds something else than finite numbers.
    #[error("the parameter `{0}` holds a value that is no finite number; train the model again")]
    NoNumber(String),
    /// Models would take more memory than the run may use.
    #[error(
        "a network has {n_parameters} parameters and keeps {n_values} other numbers on the host while it trains; {n_models} of them take \
         at least {} of memory there, more than {}; take fewer nodes or features, or fewer hidden units, layers and settings where \
         the config chooses them, or raise --memory-limit (docs/config.md, Memory)",
        ByteSize(*needed),
        ByteSize(*limit)
    )]
    TooLarge {
        /// Models of the grid.
        n_models: usize,
        /// Parameters of each.
        n_parameters: usize,
        /// Numbers that each keeps on the host beside its parameters while it trains, at least: values of layers and weights of learned
        /// links; 0 where the models train on a GPU.
        n_values: usize,
        /// Bytes that all take on the host, at least, where one trains at a time.
        needed: u64,
        /// Bytes that they may take.
        limit: u64,
    },
    /// The device failed on a single model, most likely for want of memory.
    #[error(
        "the device failed on one model alone ({0}); use construct.variant = \"hard\", fewer hidden units, or --device cpu"
    )]
    Device(String),
}
