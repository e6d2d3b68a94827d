//! What each node is used for.

mod file;

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use veilgraph_contract::StageRng;
use veilgraph_graph::{AdjacencyList, Split};

use crate::error::Error;
use crate::params::{DatasetSplit, Params, Parts, PerClass, Ratios, Scheme, SplitParams};
use crate::parts::parts;
use crate::raw::Files;

/// Gives each node its split; nodes without a label are used for nothing.
pub(crate) fn assign(
    classes: &[Option<u16>],
    names: &[String],
    links: Option<&AdjacencyList>,
    of_dataset: Option<Vec<Split>>,
    params: &Params,
    files: &Files,
) -> Result<Vec<Split>, Error> {
    let has_labels = params.has_labels();
    let mut splits = match &params.split {
        SplitParams::Random(ratios) => random(classes, ratios, has_labels),
        SplitParams::PerClass(wanted) => per_class(classes, wanted, has_labels)?,
        SplitParams::OfParts(wanted) => of_parts(links, wanted)?,
        SplitParams::OfDataset(DatasetSplit::Planetoid) => of_dataset.ok_or_else(|| {
            let problem = "the dataset comes without a split";
            Error::new(
                "[ingest] split",
                "",
                problem,
                "give shares or a file; \"planetoid\" is for Planetoid files alone",
            )
        })?,
        SplitParams::Scheme(Scheme { scheme }) => of_dataset.ok_or_else(|| {
            let problem = format!("the dataset comes without the split `{scheme}`");
            Error::new("[ingest] split", "", problem, "give shares or a file; schemes are for the format \"ogb\" alone")
        })?,
        SplitParams::File(path) => file::read(path, files, names)?,
    };
    for (split, class) in splits.iter_mut().zip(classes) {
        if class.is_none() {
            *split = Split::None;
        }
    }
    if has_labels {
        let origin = match &params.split {
            SplitParams::File(path) => path,
            _ => "[ingest] split",
        };
        for (split, name) in [(Split::Train, "training"), (Split::Validation, "validation"), (Split::Test, "test")] {
            // Whoever holds no links scores nothing, so it need not know the labels of test nodes.
            let is_needed = split != Split::Test || params.has_links();
            if is_needed && !splits.contains(&split) {
                let problem = format!("no labelled node is left for the {name} split");
                return Err(Error::new(origin, "", problem, "give every split at least one node"));
            }
        }
    }
    Ok(splits)
}

fn random(classes: &[Option<u16>], ratios: &Ratios, has_labels: bool) -> Vec<Split> {
    let shares = ratios.shares();
    let mut splits = vec![Split::None; classes.len()];
    if !has_labels {
        return splits;
    }
    let labelled = shuffled(classes, ratios.seed);
    let groups: Vec<Vec<usize>> = if ratios.stratified == Some(true) {
        by_class(classes, &labelled).into_values().collect()
    } else {
        vec![labelled]
    };
    for group in groups {
        let mut end_share = 0.0;
        let mut start = 0;
        for (split, share) in [Split::Train, Split::Validation, Split::Test].into_iter().zip(shares) {
            end_share += share;
            let end = ((end_share * group.len() as f64).round() as usize).min(group.len());
            for &node in &group[start..end.max(start)] {
                splits[node] = split;
            }
            start = end.max(start);
        }
    }
    splits
}

/// As many training nodes of every class, and of what is left as many as are wanted for validation and test.
fn per_class(classes: &[Option<u16>], wanted: &PerClass, has_labels: bool) -> Result<Vec<Split>, Error> {
    let wrong = |problem: String, remedy| Err(Error::new("[ingest] split", "", problem, remedy));
    let mut splits = vec![Split::None; classes.len()];
    if !has_labels {
        return Ok(splits);
    }
    let labelled = shuffled(classes, wanted.seed);
    for (class, nodes) in by_class(classes, &labelled) {
        if nodes.len() < wanted.train_per_class {
            let problem = format!(
                "train_per_class = {}, and class number {class} has {} nodes with a label",
                wanted.train_per_class,
                nodes.len()
            );
            return wrong(problem, "write a smaller number, or give shares");
        }
        nodes[..wanted.train_per_class].iter().for_each(|&node| splits[node] = Split::Train);
    }
    let rest: Vec<usize> = labelled.into_iter().filter(|&node| splits[node] == Split::None).collect();
    let n_wanted = wanted.validation.saturating_add(wanted.test);
    if n_wanted > rest.len() {
        let problem = format!("validation and test ask for {n_wanted} nodes, and the training leaves {}", rest.len());
        return wrong(problem, "write smaller numbers");
    }
    let (validation, rest) = rest.split_at(wanted.validation);
    validation.iter().for_each(|&node| splits[node] = Split::Validation);
    rest[..wanted.test].iter().for_each(|&node| splits[node] = Split::Test);
    Ok(splits)
}

/// The nodes with a label, in an order that the seed decides.
fn shuffled(classes: &[Option<u16>], seed: u64) -> Vec<usize> {
    let mut labelled: Vec<usize> = (0..classes.len()).filter(|&node| classes[node].is_some()).collect();
    labelled.shuffle(&mut StageRng::new(seed, "split", 0).fast_stream("nodes", 0));
    labelled
}

/// The same nodes by their class, in the same order.
fn by_class(classes: &[Option<u16>], nodes: &[usize]) -> BTreeMap<u16, Vec<usize>> {
    let mut groups: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for &node in nodes {
        groups.entry(classes[node].unwrap_or_default()).or_default().push(node);
    }
    groups
}

fn of_parts(links: Option<&AdjacencyList>, wanted: &Parts) -> Result<Vec<Split>, Error> {
    let wrong = |problem: String, remedy| Err(Error::new("[ingest] split", "", problem, remedy));
    let Some(links) = links else {
        return wrong("parts are cut by links, and there are none".into(), "give shares");
    };
    if wanted.parts > links.n_nodes() {
        let problem = format!("{} parts of {} nodes make no split", wanted.parts, links.n_nodes());
        return wrong(problem, "write a number of parts from 3 to the number of nodes");
    }
    let mut uses = vec![Split::Train; wanted.parts];
    (uses[0], uses[1]) = (Split::Test, Split::Validation);
    uses.shuffle(&mut StageRng::new(wanted.seed, "split", 0).fast_stream("uses of parts", 0));
    Ok(parts(links, wanted.parts, wanted.seed).into_iter().map(|part| uses[part]).collect())
}
