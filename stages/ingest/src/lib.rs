//! Raw files, or a synthetic model, become one canonical graph with features, labels and splits.

mod edges;
mod error;
mod normalize;
mod npz;
mod params;
mod pickle;
mod planetoid;
mod raw;
mod split;
mod synthetic;

use veilgraph_contract::{Draws, HeldOut, Invalid, Owner, Private, Progress, RawFile, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Features, Labels, NodeMap, Nodes, SparseMatrix, Split};

pub use error::Error;
pub use params::{Format, Params, Ratios, SplitParams, SyntheticParams};

use raw::{Files, RawGraph};

/// Reads, checks and splits a dataset.
pub struct Ingest;

impl Stage for Ingest {
    const STAGE: &'static str = "ingest";
    const TASK: &'static str = "ingest";
    const DRAWS: Draws = Draws::Never;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Vec<RawFile>,);
    /// Features are public or withheld, never both: one of the two slots is always empty.
    type Outputs = (
        Nodes,
        NodeMap,
        Option<Features>,
        Option<Private<Features>>,
        Option<Labels>,
        Option<HeldOut<Labels>>,
        Private<AdjacencyList>,
    );
    type Error = Error;

    fn run((raw,): Self::Inputs, params: &Params, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        params.check()?;
        let files = Files(&raw);
        let graph = match params.format() {
            Format::Synthetic => synthetic::generate(&params.synthetic.clone().unwrap_or_default())?,
            Format::Planetoid => planetoid::read(&files, params)?,
            Format::Npz => npz::read(&files, params)?,
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
        return Err(Error::new(&origin, "", problem, "link-local privacy needs at least 3"));
    }
    let links = AdjacencyList::from_pairs(n_nodes, graph.pairs)
        .map_err(|invalid| Error::new(&origin, "", invalid.0, "correct the ids, or the file that lists the nodes"))?;
    if links.n_links() == 0 {
        return Err(Error::new(
            &origin,
            "",
            "the graph has no link",
            "give a list with at least one link between two nodes",
        ));
    }
    let wrong_features = |invalid: Invalid| Error::new(&origin, "features, ", invalid.0, "correct the features");
    let features = match graph.features {
        Some((width, rows)) => {
            let matrix = SparseMatrix::from_rows(width, rows).map_err(wrong_features)?;
            let matrix = if params.binarize { normalize::binarized(&matrix) } else { matrix };
            let scaled = normalize::normalized(matrix, params.normalize).map_err(wrong_features)?;
            Some(Features(scaled))
        }
        None => None,
    };
    let (n_classes, classes) = graph.classes.unwrap_or((0, vec![None; n_nodes]));
    let splits = split::assign(&classes, &graph.names, params, files)?;
    let of = |wanted: &[Split]| -> Result<Option<Labels>, Error> {
        if n_classes == 0 {
            return Ok(None);
        }
        let nodes = (0..n_nodes).filter(|&node| wanted.contains(&splits[node]));
        let rows = nodes.filter_map(|node| classes[node].map(|class| (node as u32, class))).collect();
        let labels = Labels::new(n_classes, rows);
        labels.map(Some).map_err(|invalid| Error::new(&origin, "labels, ", invalid.0, "correct the labels"))
    };
    let labels = of(&[Split::Train, Split::Validation])?;
    let held_out = of(&[Split::Test])?.map(HeldOut);
    let counts = links.counts();
    let features_text = features.as_ref().map_or("no".to_owned(), |features| features.0.n_columns().to_string());
    let (features, withheld) = if params.withhold_features { (None, features.map(Private)) } else { (features, None) };
    tracing::info!(
        "{n_nodes} nodes, {} links ({} rows; dropped {} self-loops and {} repeated mentions), {} isolated nodes, {features_text} features, {n_classes} classes, {} nodes without label",
        links.n_links(),
        counts.rows,
        counts.self_loops,
        counts.duplicates,
        counts.isolated,
        classes.iter().filter(|class| class.is_none()).count(),
    );
    let nodes = Nodes { dataset: params.dataset_name(), n_classes, splits };
    Ok((nodes, NodeMap { names: graph.names }, features, withheld, labels, held_out, Private(links)))
}

#[cfg(test)]
mod tests;
