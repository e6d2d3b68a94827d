//! What the graphs of a page are: sizes, classes, splits and licences.

use minijinja::{Value, context};
use veilgraph_contract::{Artifact, HeldOut, Private, Zone};
use veilgraph_graph::{AdjacencyList, Features, Labels, Nodes, Split};
use veilgraph_runner::task::{Done, Task};
use veilgraph_store::{Entry, MemoryLimit};

use super::provenance::licence;

/// What is said of a graph, in this order.
const HEAD: [&str; 13] = [
    "graph",
    "nodes",
    "links",
    "mean degree",
    "density",
    "isolated nodes",
    "features",
    "classes",
    "homophily",
    "training",
    "validation",
    "test",
    "licence",
];
/// A fact that is not known.
const NOTHING: &str = "–";
/// A page reads one graph after the other, each of which a run has held in memory already.
const MEMORY: MemoryLimit = MemoryLimit(u64::MAX);

/// The facts of one graph, with the key of the entry that holds it.
pub(super) struct Graph {
    pub key: String,
    facts: Vec<String>,
}

impl Graph {
    pub(super) fn name(&self) -> &str {
        &self.facts[0]
    }

    /// The same under a name that tells it from one of the same name in another experiment.
    pub(super) fn of_experiment(mut self, experiment: &str) -> Self {
        self.facts[0] += &format!(" ({experiment})");
        self
    }
}

/// The graphs of an experiment. Of those of a deployment there is only what the server knows as well.
///
/// # Errors
/// When an artifact is not what its entry says.
pub(super) fn graphs(tasks: &[Task], done: &[Done], is_deployment: bool) -> anyhow::Result<Vec<Graph>> {
    let mut graphs = Vec::new();
    for (task, done) in tasks.iter().zip(done) {
        let Some(entry) = done.entry.as_ref().filter(|_| task.stage == "ingest") else { continue };
        if is_there(entry, Nodes::NAME, Nodes::ZONE) {
            let facts = facts(task, entry, is_deployment)?;
            graphs.push(Graph { key: entry.manifest.key.clone(), facts });
        }
    }
    Ok(graphs)
}

/// The graphs as a table, without columns that say nothing of any.
pub(super) fn table(graphs: &[Graph]) -> Value {
    let says = |column: &usize| graphs.iter().any(|graph| graph.facts[*column] != NOTHING);
    let kept: Vec<usize> = (0..HEAD.len()).filter(says).collect();
    let head: Vec<&str> = kept.iter().map(|&column| HEAD[column]).collect();
    let of = |graph: &Graph| kept.iter().map(|&column| graph.facts[column].clone()).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = graphs.iter().map(of).collect();
    context! { head, lines }
}

fn facts(task: &Task, entry: &Entry, is_deployment: bool) -> anyhow::Result<Vec<String>> {
    let nodes: Nodes = entry.read(Nodes::NAME, MEMORY)?;
    let n_nodes = nodes.splits.len();
    let features = if is_there(entry, Features::NAME, Features::ZONE) {
        Some(entry.open::<Features>(Features::NAME, MEMORY)?.facts().get::<usize>("n_features")?)
    } else if !is_deployment && is_there(entry, Features::NAME, Zone::Owner) {
        Some(entry.open::<Private<Features>>(Features::NAME, MEMORY)?.facts().get::<usize>("n_features")?)
    } else {
        None
    };
    let [mut n_links, mut degree, mut density, mut isolated, mut homophily] = [(); 5].map(|()| NOTHING.to_owned());
    if !is_deployment && is_there(entry, AdjacencyList::NAME, AdjacencyList::ZONE) {
        let links: AdjacencyList = entry.read(AdjacencyList::NAME, MEMORY)?;
        let ends = 2.0 * links.n_links() as f64;
        n_links = links.n_links().to_string();
        degree = format!("{:.2}", ends / n_nodes as f64);
        density = format!("{:.2e}", ends / (n_nodes as f64 * (n_nodes as f64 - 1.0)));
        isolated = links.n_isolated().to_string();
        homophily = share_within(&links, &classes(entry, n_nodes)?).map_or(homophily, |share| format!("{share:.2}"));
    }
    let members = |split: Split| {
        let number = nodes.members(split).len();
        if nodes.n_classes == 0 { NOTHING.to_owned() } else { number.to_string() }
    };
    Ok(vec![
        called(&nodes.dataset, task.label()),
        n_nodes.to_string(),
        n_links,
        degree,
        density,
        isolated,
        features.map_or(NOTHING.to_owned(), |number| number.to_string()),
        if nodes.n_classes == 0 { NOTHING.to_owned() } else { nodes.n_classes.to_string() },
        homophily,
        members(Split::Train),
        members(Split::Validation),
        members(Split::Test),
        licence(task).unwrap_or(NOTHING.to_owned()),
    ])
}

/// The dataset, with what else was swept about it.
fn called(dataset: &str, label: &str) -> String {
    let named = format!("dataset-{dataset}");
    let swept = label.split(',').filter(|part| *part != "all" && *part != named);
    std::iter::once(dataset).chain(swept).collect::<Vec<_>>().join(", ")
}

/// The class of each node, as far as anybody here knows it.
fn classes(entry: &Entry, n_nodes: usize) -> anyhow::Result<Vec<Option<u16>>> {
    let mut known: Vec<Labels> = Vec::new();
    if is_there(entry, Labels::NAME, Labels::ZONE) {
        known.push(entry.read(Labels::NAME, MEMORY)?);
    }
    if is_there(entry, Labels::NAME, Zone::Owner) {
        known.push(entry.read::<Private<Labels>>(Labels::NAME, MEMORY)?.0);
    }
    if is_there(entry, HeldOut::<Labels>::NAME, HeldOut::<Labels>::ZONE) {
        known.push(entry.read::<HeldOut<Labels>>(HeldOut::<Labels>::NAME, MEMORY)?.0);
    }
    let mut classes = vec![None; n_nodes];
    for &(node, class) in known.iter().flat_map(Labels::classes) {
        classes[node as usize] = Some(class);
    }
    Ok(classes)
}

/// The share of the links that join nodes of one class, among those whose ends both have one.
fn share_within(links: &AdjacencyList, classes: &[Option<u16>]) -> Option<f64> {
    let (mut within, mut all) = (0_u64, 0_u64);
    for (a, b) in links.links() {
        if let (Some(a), Some(b)) = (classes[a as usize], classes[b as usize]) {
            all += 1;
            within += u64::from(a == b);
        }
    }
    (all > 0).then(|| within as f64 / all as f64)
}

/// Whether the entry has this artifact in this zone, and its file is on this machine.
fn is_there(entry: &Entry, artifact: &str, zone: Zone) -> bool {
    let output = entry.manifest.outputs.get(artifact);
    output.is_some_and(|output| output.zone == zone.name() && entry.path(output).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle of nodes 0 to 2 with a tail 2-3-4; the class of the last is not known.
    #[test]
    fn homophily_is_about_links_whose_ends_both_have_a_class() {
        let links = AdjacencyList::from_pairs(5, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]).expect("a graph");
        let classes = [Some(0), Some(0), Some(1), Some(1), None];
        assert_eq!(share_within(&links, &classes), Some(0.5));
        assert_eq!(share_within(&links, &[None; 5]), None);
    }

    #[test]
    fn a_graph_is_called_by_its_dataset_and_what_tells_it_from_others() {
        assert_eq!(called("cora", "all"), "cora");
        assert_eq!(called("cora", "dataset-cora"), "cora");
        assert_eq!(called("synthetic", "nodes-500"), "synthetic, nodes-500");
        assert_eq!(called("cora", "dataset-cora,seed-2"), "cora, seed-2");
    }
}
