//! Mechanisms in which every node speaks for itself: they are given one node at a time and nothing else of the graph.

use std::marker::PhantomData;

use rand::rngs::{ChaCha8Rng, ChaCha20Rng};
use rayon::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use veilgraph_contract::{Draws, Inputs, Outputs, Owner, Private, Progress, Randomness, Release, Stage, StageRng};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::Groups;

use crate::Error;

/// A mechanism in which every node speaks for itself.
pub trait LocalMechanism: Sized + 'static {
    /// Name of the mechanism, as in `[privatize.links] mechanism`; part of the key of every release.
    const NAME: &'static str;
    /// The parameters that this mechanism reads, and no others.
    type Params: Serialize + DeserializeOwned + Send + Sync;
    /// What the server asked the nodes before they report; `()` where it asks nothing.
    type Question: Question;
    /// What all nodes send.
    type Reports: Outputs;

    /// What the reports cost: rows of the ledger, known from the parameters alone.
    fn releases(params: &Self::Params) -> Vec<Release>;

    /// Refuses parameters with which nobody can report, whatever the graph is.
    ///
    /// # Errors
    /// When a budget is out of reach for exact noise, or a share makes no sense.
    fn check(_: &Self::Params) -> Result<(), Error> {
        Ok(())
    }

    /// What one node would send without noise, value by value, each with the noise that it gets. The test that compares
    /// the costs of [`releases`](Self::releases) with likelihood ratios over all small graphs reads it.
    fn ideal(node: NodeView, question: &Self::Question, params: &Self::Params) -> Vec<Ideal>;

    /// The reports of all nodes.
    ///
    /// # Errors
    /// When the parameters cannot be used with this question or this number of nodes.
    fn report(nodes: EveryNode, question: Self::Question, params: &Self::Params) -> Result<Self::Reports, Error>;
}

/// One value that a node sends, before noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ideal {
    /// A bit under randomized response.
    Bit {
        /// The true bit.
        is_set: bool,
        /// Budget of the bit, in nats.
        epsilon: f64,
    },
    /// A count under integer noise.
    Count {
        /// The true count.
        count: usize,
        /// Budget for a change of the count by one, in nats.
        epsilon: f64,
        /// Steps of the noise to one.
        steps: u64,
    },
}

/// What one node knows: its own list, and two public numbers.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    node: u32,
    n_nodes: usize,
    neighbours: &'a [u32],
}

impl<'a> NodeView<'a> {
    /// The view of `node`, whose `neighbours` ascend and do not hold the node itself.
    #[must_use]
    pub fn new(node: u32, n_nodes: usize, neighbours: &'a [u32]) -> Self {
        Self { node, n_nodes, neighbours }
    }

    /// Number of this node, which is public.
    #[must_use]
    pub fn node(self) -> u32 {
        self.node
    }

    /// Number of all nodes, which is public.
    #[must_use]
    pub fn n_nodes(self) -> usize {
        self.n_nodes
    }

    /// Neighbours of this node, ascending.
    #[must_use]
    pub fn neighbours(self) -> &'a [u32] {
        self.neighbours
    }

    /// Number of neighbours.
    #[must_use]
    pub fn degree(self) -> usize {
        self.neighbours.len()
    }

    /// Whether `other` is a neighbour.
    #[must_use]
    pub fn has_link_to(self, other: u32) -> bool {
        self.neighbours.binary_search(&other).is_ok()
    }

    /// All other nodes, ascending.
    pub fn others(self) -> impl Iterator<Item = u32> {
        (0..self.n_nodes as u32).filter(move |&other| other != self.node)
    }
}

/// The random streams of one node.
///
/// A stream is named by its purpose. The purpose holds the budget, so that no random word ever serves at two budgets.
/// It does not hold the mechanism: mechanisms that flip the same bits at the same budget draw the same flips, so that
/// they can be compared trial by trial. In a deployment each release has streams of its own.
#[derive(Clone, Copy)]
pub struct NodeNoise<'a> {
    rng: &'a StageRng,
    node: u32,
}

impl NodeNoise<'_> {
    /// The cryptographic stream for `purpose`.
    #[must_use]
    pub fn stream(self, purpose: &str) -> ChaCha20Rng {
        self.stream_of_part(purpose, 0)
    }

    /// The cryptographic stream for one part of a purpose, where a report is drawn in parts.
    #[must_use]
    pub fn stream_of_part(self, purpose: &str, part: usize) -> ChaCha20Rng {
        self.rng.stream(purpose, ((part as u64) << 32) | u64::from(self.node))
    }

    /// A faster stream for what a simulation decides and what protects nobody.
    #[must_use]
    pub fn simulated(self, purpose: &str) -> ChaCha8Rng {
        self.rng.fast_stream(purpose, u64::from(self.node))
    }
}

/// All nodes, of which each is asked alone.
pub struct EveryNode {
    graph: AdjacencyList,
    rng: StageRng,
}

impl EveryNode {
    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    /// Where the noise comes from.
    #[must_use]
    pub fn randomness(&self) -> Randomness {
        self.rng.randomness()
    }

    /// Whether the set of nodes was taken from the links themselves.
    #[must_use]
    pub fn are_from_links(&self) -> bool {
        self.graph.nodes_from_links()
    }

    /// What every node answers, by node.
    pub fn ask<T: Send>(&self, answer: impl Fn(NodeView, NodeNoise) -> T + Sync) -> Vec<T> {
        (0..self.n_nodes()).into_par_iter().map(|node| answer(self.view(node), self.noise(node))).collect()
    }

    /// What any one node answers, drawn when it is asked for: all reports together may exceed the memory. `what` is
    /// public and says which part of its report the node is asked for.
    pub fn on_demand<Q, T>(
        self,
        answer: impl Fn(NodeView, NodeNoise, Q) -> T + Send + Sync + 'static,
    ) -> impl Fn(usize, Q) -> T + Send + Sync + 'static {
        move |node, what| answer(self.view(node), self.noise(node), what)
    }

    fn view(&self, node: usize) -> NodeView<'_> {
        NodeView::new(node as u32, self.graph.n_nodes(), self.graph.neighbours(node))
    }

    fn noise(&self, node: usize) -> NodeNoise<'_> {
        NodeNoise { rng: &self.rng, node: node as u32 }
    }
}

/// What a server asks all nodes, as an input of the stage.
pub trait Question: Sized {
    /// Slots of the stage: the private links, and what was asked.
    type Inputs: Inputs<Owner>;
    /// Tells the links from the question.
    fn split(inputs: Self::Inputs) -> (Private<AdjacencyList>, Self);
}

impl Question for () {
    type Inputs = (Private<AdjacencyList>,);
    fn split((links,): Self::Inputs) -> (Private<AdjacencyList>, Self) {
        (links, ())
    }
}

impl Question for Groups {
    type Inputs = (Private<AdjacencyList>, Groups);
    fn split(inputs: Self::Inputs) -> (Private<AdjacencyList>, Self) {
        inputs
    }
}

/// The stage function of a local mechanism.
pub struct Local<M>(PhantomData<fn() -> M>);

impl<M: LocalMechanism> Stage for Local<M> {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = M::NAME;
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = M::Params;
    type Inputs = <M::Question as Question>::Inputs;
    type Outputs = M::Reports;
    type Error = Error;

    fn releases(params: &M::Params) -> Vec<Release> {
        M::releases(params)
    }

    fn check_params(params: &M::Params) -> Result<(), Error> {
        M::check(params)
    }

    fn run(inputs: Self::Inputs, params: &M::Params, rng: &StageRng, _: &Progress) -> Result<M::Reports, Error> {
        let (Private(graph), question) = M::Question::split(inputs);
        if graph.n_nodes() < 3 {
            return Err(Error::TooSmall(graph.n_nodes()));
        }
        M::report(EveryNode { graph, rng: rng.clone() }, question, params)
    }
}
