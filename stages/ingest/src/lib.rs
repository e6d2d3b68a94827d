//! Raw files, or a synthetic model, become one canonical graph with features, labels and splits.

mod archive;
mod edges;
mod error;
mod normalize;
mod npz;
mod ogb;
mod params;
mod parts;
mod pickle;
mod planetoid;
mod raw;
mod released;
mod split;
mod synthetic;

use std::collections::BTreeSet;

use veilgraph_contract::{Draws, HeldOut, Invalid, Owner, Private, Progress, RawFile, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Features, Labels, NodeMap, Nodes, SparseMatrix, Split};

pub use error::Error;
pub use normalize::Normalize;
pub use params::{
    Classes, DatasetSplit, Format, Params, Parts, PerClass, Ratios, Scheme, SplitParams, SyntheticParams, WrongField,
};
pub use raw::decompressed_name;
pub use released::{ReadReleased, ReleasedParams};

use params::names_beside_numbers;
use raw::{FeatureRows, Files, RawGraph};

/// Reads, checks and splits a dataset.
pub struct Ingest;

impl Stage for Ingest {
    const STAGE: &'static str = "ingest";
    const TASK: &'static str = "ingest";
    const DRAWS: Draws = Draws::Never;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Vec<RawFile>,);
    /// Features are public or withheld, never both: one of the two slots is always empty. So are the labels of training
    /// and validation nodes. Links are absent where the files describe nodes alone.
    type Outputs = (
        Nodes,
        NodeMap,
        Option<Features>,
        Option<Private<Features>>,
        Option<Labels>,
        Option<Private<Labels>>,
        Option<HeldOut<Labels>>,
        Option<Private<AdjacencyList>>,
    );
    type Error = Error;

    fn run((raw,): Self::Inputs, params: &Params, _: &StageRng, progress: &Progress) -> Result<Self::Outputs, Error> {
        params.check()?;
        let files = Files(&raw);
        let graph = match params.format() {
            Format::Synthetic => synthetic::generate(&params.synthetic.clone().unwrap_or_default(), progress.memory())?,
            Format::Planetoid => planetoid::read(&files, params)?,
            Format::Npz => npz::read(&files, params)?,
            Format::Ogb => ogb::read(&files, params)?,
            Format::Edges => edges::read(&files, params)?,
        };
        finish(graph, &files, params)
    }
}

/// Checks what all formats have in common, normalizes and splits.
fn finish(graph: RawGraph, files: &Files, params: &Params) -> Result<<Ingest as Stage>::Outputs, Error> {
    let n_nodes = graph.names.len();
    let origin = params.origin();
    if n_nodes < 3 {
        let problem = format!("the graph has {n_nodes} nodes");
        return Err(Error::new(&params.origin_of_nodes(), "", problem, "link-local privacy needs at least 3"));
    }
    // Neither needs the other, and each takes a third of a second among a million nodes.
    let (links, features) = rayon::join(
        || graph.pairs.map(|pairs| SimpleGraph::new(n_nodes, pairs, &origin)).transpose(),
        || graph.features.map(|rows| scaled(rows, params)).transpose(),
    );
    let links = links?.map(|graph| graph.logged().with_nodes_from_links(params.takes_nodes_from_links()));
    let features = features?;
    if links.is_some() && params.takes_nodes_from_links() {
        tracing::warn!(
            "{origin}: the set of nodes is taken from the links, so it is not independent of them; name a file of all \
             nodes in `nodes`"
        );
    }
    let origin_of_labels = params.origin_of_labels();
    let wrong_labels = |problem: &str, remedy: &str| Error::new(&origin_of_labels, "labels, ", problem, remedy);
    let (mut n_classes, mut classes) = graph.classes.unwrap_or((0, vec![None; n_nodes]));
    let mut class_names = graph.class_names;
    if let (Some(declared), Format::Npz | Format::Ogb) = (&params.classes, params.format()) {
        let renumbered = declared.renumbered(&class_names, &classes);
        classes = renumbered.map_err(|Invalid(problem)| wrong_labels(&problem, "declare every class"))?;
        (n_classes, class_names) = (declared.names().len(), names_beside_numbers(declared.names()));
    }
    if matches!(params.format(), Format::Npz | Format::Ogb) && params.classes.is_none() {
        let found = numbered_classes(&origin_of_labels, &classes)?;
        // Nothing is said of labels that only their owners know.
        if !params.withhold_labels {
            warn_of_gap(&origin_of_labels, n_classes, &found);
        }
    }
    let splits = split::assign(&classes, &graph.names, links.as_ref(), graph.splits, params, files)?;
    let of = |wanted: &[Split]| -> Result<Option<Labels>, Error> {
        if n_classes == 0 {
            return Ok(None);
        }
        let nodes = (0..n_nodes).filter(|&node| wanted.contains(&splits[node]));
        let rows = nodes.filter_map(|node| classes[node].map(|class| (node as u32, class))).collect();
        let labels = Labels::new(n_classes, rows);
        labels.map(Some).map_err(|Invalid(problem)| wrong_labels(&problem, "correct the labels"))
    };
    let labels = of(&[Split::Train, Split::Validation])?;
    let held_out = of(&[Split::Test])?.map(HeldOut);
    let features_text = features.as_ref().map_or("no".to_owned(), |features| features.0.n_columns().to_string());
    let (features, private_features) =
        if params.withhold_features { (None, features.map(Private)) } else { (features, None) };
    let (labels, private_labels) = if params.withhold_labels { (None, labels.map(Private)) } else { (labels, None) };
    let unlabelled = classes.iter().filter(|class| class.is_none()).count();
    tracing::info!("{n_nodes} nodes, {features_text} features, {n_classes} classes, {unlabelled} nodes without label");
    let nodes_from_links = params.takes_nodes_from_links();
    // A name that was not declared says that somebody has the class, which private labels must not.
    if params.withhold_labels && params.classes.is_none() {
        class_names = Vec::new();
    }
    if let Some(known) = &labels {
        check_classes(params, &splits, known).map_err(|(problem, remedy)| wrong_labels(&problem, remedy))?;
    }
    let nodes = Nodes { dataset: params.dataset_name(), n_classes, splits, nodes_from_links, class_names };
    let names = NodeMap { names: graph.names };
    Ok((nodes, names, features, private_features, labels, private_labels, held_out, links.map(Private)))
}

/// The numbers of the classes of some nodes.
///
/// # Errors
/// When there is one class, or when labels nearly all differ.
fn numbered_classes(origin: &str, of_nodes: &[Option<u16>]) -> Result<BTreeSet<u16>, Error> {
    const REMEDY: &str =
        "write the class of each node; if they are classes, declare them with `classes` below [ingest]";
    let found: BTreeSet<u16> = of_nodes.iter().flatten().copied().collect();
    if found.len() == 1 {
        return Err(Error::new(origin, "labels, ", "1 class only", "a classifier needs at least two classes"));
    }
    let n_labelled = of_nodes.iter().flatten().count();
    if found.len() > n_labelled / 2 + 2 {
        let problem = format!("{} different labels among {n_labelled} nodes are no classes", found.len());
        return Err(Error::new(origin, "labels, ", problem, REMEDY));
    }
    Ok(found)
}

/// Warns of a class that no node has, because a network learns nothing of it. Tables number their classes themselves, so that
/// they have no gap.
fn warn_of_gap(origin: &str, n_classes: usize, found: &BTreeSet<u16>) {
    if let Some(missing) = (0..n_classes).find(|class| !found.contains(&(*class as u16))) {
        tracing::warn!(
            "{origin}: no node has class {missing}, and some have class {}; where classes are to be learned, number them without a gap",
            n_classes - 1
        );
    }
}

/// Refuses labels of a deployment whose classes would tell of a node that reports none, or that no network could learn once the
/// reports are paid for; with the remedy.
fn check_classes(params: &Params, splits: &[Split], known: &Labels) -> Result<(), (String, &'static str)> {
    if !params.declared_classes || !params.has_own_labels() {
        return Ok(());
    }
    // No network is trained on nodes without features.
    let trains = params.classes.is_some() || params.has_features();
    let is_counted = |node: u32| !trains || splits[node as usize] == Split::Train;
    let found: BTreeSet<usize> =
        known.classes().iter().filter(|(node, _)| is_counted(*node)).map(|(_, class)| usize::from(*class)).collect();
    let missing = (0..known.n_classes()).find(|class| !found.contains(class));
    match (missing, &params.classes) {
        (None, _) => Ok(()),
        (Some(_), None) => Err((
            {
                let counted = if trains { "training node" } else { "training or validation node" };
                format!("in a deployment the classes are public, and one of them is that of no {counted}")
            },
            "choose another split, or give the nodes of that class another one",
        )),
        (Some(class), Some(_)) => Err((
            format!("class {class} of `[ingest] classes`, counted from 0, is that of no training node"),
            "choose another split, or give its nodes another class; leave it out if no node has it",
        )),
    }
}

/// The features of all nodes, scaled as the parameters say.
fn scaled((width, rows): FeatureRows, params: &Params) -> Result<Features, Error> {
    let origin = params.origin_of_features();
    let wrong = |invalid: Invalid| Error::new(&origin, "features, ", invalid.0, "correct the features");
    let matrix = SparseMatrix::from_rows(width, rows).map_err(wrong)?;
    // Nodes are compared, and networks trained, in single precision.
    let square = |row: usize| matrix.row(row).1.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>();
    if let Some(row) = (0..matrix.n_rows()).find(|&row| square(row) > f64::from(f32::MAX)) {
        let problem = "the squares of these values sum to more than the largest number of 32 bits";
        return Err(Error::new(
            &origin,
            format!("features of node {row}, counted from 0: "),
            problem,
            "scale the features",
        ));
    }
    let matrix = if params.binarize { normalize::binarized(&matrix) } else { matrix };
    if params.withhold_features && normalize::reads_all_nodes(&matrix, params.normalize) {
        let problem = "features are private, and this way to scale them looks at those of all nodes";
        let remedy = "set normalize = \"none\", and declare the range in [privatize.features]";
        return Err(Error::new("[ingest] normalize", "", problem, remedy));
    }
    if params.normalize == Normalize::Row && params.format() == Format::Edges && !params.withhold_features {
        normalize::warn_of_large_column(&matrix, &origin);
    }
    normalize::normalized(matrix, params.normalize).map(Features).map_err(wrong)
}

/// The simple graph of raw links.
struct SimpleGraph {
    links: AdjacencyList,
    /// The number of raw links.
    n_rows: usize,
    /// The number of nodes with a self-loop.
    n_loops: usize,
}

impl SimpleGraph {
    /// Drops self-loops and repeated mentions; `origin` is what an error names.
    fn new(n_nodes: usize, pairs: Vec<(u32, u32)>, origin: &str) -> Result<Self, Error> {
        let n_rows = pairs.len();
        let loops: BTreeSet<u32> = pairs.iter().filter(|(a, b)| a == b).map(|(a, _)| *a).collect();
        let links = AdjacencyList::from_pairs(n_nodes, pairs).map_err(|invalid| {
            Error::new(origin, "", invalid.0, "correct the ids, or the file that lists the nodes")
        })?;
        if links.n_links() == 0 {
            let remedy = "give a list with at least one link between two nodes";
            return Err(Error::new(origin, "", "the graph has no link", remedy));
        }
        Ok(Self { links, n_rows, n_loops: loops.len() })
    }

    /// Logs what was dropped, and returns the links. These counts are private, so the log says them only to whoever asks for
    /// everything.
    fn logged(self) -> AdjacencyList {
        tracing::debug!(
            "{} links ({} rows; dropped {} self-loops and {} repeated mentions), {} isolated nodes",
            self.links.n_links(),
            self.n_rows,
            self.n_loops,
            self.n_rows - self.links.n_links() - self.n_loops,
            self.links.n_isolated(),
        );
        self.links
    }
}

#[cfg(test)]
mod tests;
