//! What each node is used for.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use veilgraph_contract::StageRng;
use veilgraph_graph::{AdjacencyList, Split};

use crate::error::Error;
use crate::params::{DatasetSplit, Params, Parts, Ratios, Scheme, SplitParams};
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
        SplitParams::Random(ratios) => random(classes, ratios, has_labels)?,
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
        SplitParams::File(path) => from_file(path, &files.text(path)?, names)?,
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

fn random(classes: &[Option<u16>], ratios: &Ratios, has_labels: bool) -> Result<Vec<Split>, Error> {
    let wrong = |problem: String| Err(Error::new("[ingest] split", "", problem, "use shares such as 0.5, 0.25, 0.25"));
    let shares = [ratios.train, ratios.validation, ratios.test];
    if let Some(share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
        return wrong(format!("the share {share} does not lie in [0, 1]"));
    }
    if shares.iter().sum::<f64>() > 1.0 + 1e-9 {
        return wrong(format!("the shares {shares:?} add up to more than 1"));
    }
    let mut splits = vec![Split::None; classes.len()];
    if !has_labels {
        return Ok(splits);
    }
    let mut labelled: Vec<usize> = (0..classes.len()).filter(|&node| classes[node].is_some()).collect();
    labelled.shuffle(&mut StageRng::new(ratios.seed, "split", 0).fast_stream("nodes", 0));
    let mut end_share = 0.0;
    let mut start = 0;
    for (split, share) in [Split::Train, Split::Validation, Split::Test].into_iter().zip(shares) {
        end_share += share;
        let end = ((end_share * labelled.len() as f64).round() as usize).min(labelled.len());
        for &node in &labelled[start..end.max(start)] {
            splits[node] = split;
        }
        start = end.max(start);
    }
    Ok(splits)
}

fn of_parts(links: Option<&AdjacencyList>, wanted: &Parts) -> Result<Vec<Split>, Error> {
    let wrong = |problem: String, remedy| Err(Error::new("[ingest] split", "", problem, remedy));
    let Some(links) = links else {
        return wrong("parts are cut by links, and there are none".into(), "give shares");
    };
    if wanted.parts < 3 || wanted.parts > links.n_nodes() {
        let problem = format!("{} parts of {} nodes make no split", wanted.parts, links.n_nodes());
        return wrong(problem, "write a number of parts from 3 to the number of nodes");
    }
    let mut uses = vec![Split::Train; wanted.parts];
    (uses[0], uses[1]) = (Split::Test, Split::Validation);
    uses.shuffle(&mut StageRng::new(wanted.seed, "split", 0).fast_stream("uses of parts", 0));
    Ok(parts(links, wanted.parts, wanted.seed).into_iter().map(|part| uses[part]).collect())
}

/// Reads one letter per node, or rows `node,split`.
fn from_file(path: &str, text: &str, names: &[String]) -> Result<Vec<Split>, Error> {
    if !text.contains(',') {
        return letters(path, text, names.len());
    }
    let index: BTreeMap<&str, usize> = names.iter().enumerate().map(|(node, name)| (name.as_str(), node)).collect();
    let mut splits = vec![None; names.len()];
    for (line, row) in text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty()) {
        let place = format!("line {}: ", line + 1);
        let fields: Vec<&str> = row.split(',').map(str::trim).collect();
        if line == 0 && fields.get(1) == Some(&"split") {
            continue;
        }
        let [name, split] = fields[..] else {
            return Err(Error::new(path, place, format!("{} fields", fields.len()), "write `node,split` rows"));
        };
        let Some(&node) = index.get(name) else {
            return Err(Error::new(
                path,
                place,
                format!("node `{name}` is not in the graph"),
                "use the names of the graph's files",
            ));
        };
        let split = match split {
            "train" => Split::Train,
            "validation" => Split::Validation,
            "test" => Split::Test,
            "none" => Split::None,
            other => {
                let problem = format!("`{other}` is no split");
                return Err(Error::new(path, place, problem, "use train, validation, test or none"));
            }
        };
        if splits[node].replace(split).is_some_and(|before| before != split) {
            return Err(Error::new(path, place, format!("node `{name}` is in two splits"), "splits must not overlap"));
        }
    }
    Ok(splits.into_iter().map(|split| split.unwrap_or(Split::None)).collect())
}

fn letters(path: &str, text: &str, n_nodes: usize) -> Result<Vec<Split>, Error> {
    let splits = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .enumerate()
        .map(|(node, letter)| match letter {
            'T' => Ok(Split::Train),
            'V' => Ok(Split::Validation),
            'E' => Ok(Split::Test),
            'N' => Ok(Split::None),
            other => {
                let problem = format!("`{other}` is no split");
                Err(Error::new(
                    path,
                    format!("letter {}: ", node + 1),
                    problem,
                    "use T, V, E or N, one letter per node",
                ))
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    if splits.len() == n_nodes {
        Ok(splits)
    } else {
        let problem = format!("{} letters for {n_nodes} nodes", splits.len());
        Err(Error::new(path, "", problem, "give one letter per node"))
    }
}
