//! Text files of a user's own graph, and of the datasets that come as text.

mod columns;
mod features;
mod labels;
mod names;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::params::Params;
use crate::raw::{Files, RawGraph};
use features::NamedFeatures;
use labels::NamedLabels;
use names::Names;
use table::TextTable;

/// Reads links, and features and labels where given. Node names are kept; nodes are numbered by
/// ascending name (as numbers, if all names are numbers).
pub(crate) fn read(files: &Files, params: &Params) -> Result<RawGraph, Error> {
    let edges_file = params.edges.clone().unwrap_or_default();
    let mut links = read_links(files, &edges_file, params)?;
    let features = params.features.as_ref().map(|file| features::read(files, file, params)).transpose()?;
    let labels = params.labels.as_ref().map(|file| labels::read(files, file, params)).transpose()?;
    compare_names(params, &links, features.as_ref(), labels.as_ref())?;
    let mut labels = labels.map(|labels| labels.classes);
    if params.induced {
        let Some(features) = &features else {
            let problem = "`induced` keeps the nodes that have features, but no features are given";
            return Err(Error::new("[ingest]", "", problem, "give `features` or leave `induced` out"));
        };
        links.retain(|(a, b)| features.rows.contains_key(a) && features.rows.contains_key(b));
        if let Some(labels) = &mut labels {
            labels.retain(|node, _| features.rows.contains_key(node));
        }
    }
    let mut all: BTreeSet<&str> = links.iter().flat_map(|(a, b)| [a.as_str(), b.as_str()]).collect();
    all.extend(features.iter().flat_map(|features| features.rows.keys()).map(String::as_str));
    all.extend(labels.iter().flat_map(BTreeMap::keys).map(String::as_str));
    let names = ordered(all);
    if u32::try_from(names.len()).is_err() {
        return Err(Error::new(
            &edges_file,
            "",
            format!("{} nodes", names.len()),
            "at most 2^32 - 1 nodes are possible",
        ));
    }
    let number: BTreeMap<&str, u32> =
        names.iter().enumerate().map(|(node, name)| (name.as_str(), node as u32)).collect();
    let pairs = links.iter().map(|(a, b)| (number[a.as_str()], number[b.as_str()])).collect();
    let features = features.map(|mut features| {
        (features.width, names.iter().map(|name| features.rows.remove(name).unwrap_or_default()).collect())
    });
    let classes = labels.map(|labels| labels::numbered(&labels, &names, params)).transpose()?;
    Ok(RawGraph { names, pairs, features, classes })
}

fn read_links(files: &Files, file: &str, params: &Params) -> Result<Vec<(String, String)>, Error> {
    // Whoever names a column says that columns have names.
    let table = TextTable::read(files, file, params.header.or(params.source_column.is_some().then_some(true)))?;
    let ends = columns::of_links(&table, params)?;
    if let (1, Some((line, _))) = (table.width(), table.rows.first()) {
        return Err(table.error(format!("line {line}: "), "1 field", "a link has two ends: `source,target`"));
    }
    tracing::info!("{}", columns::account(&table, &[("first ends", ends[0]), ("second ends", ends[1])]));
    let mut links = Vec::with_capacity(table.rows.len());
    for (line, mut row) in table.rows {
        let [a, b] = ends.map(|at| std::mem::take(&mut row[at]));
        if a.is_empty() || b.is_empty() {
            return Err(Error::new(file, format!("line {line}: "), "a link with an empty end", "name both nodes"));
        }
        links.push((a, b));
    }
    Ok(links)
}

/// Says how many nodes of the other files are in the file of links, before any node is left out.
fn compare_names(
    params: &Params,
    links: &[(String, String)],
    features: Option<&NamedFeatures>,
    labels: Option<&NamedLabels>,
) -> Result<(), Error> {
    let features = params.features.as_deref().zip(features).map(|(file, features)| Names {
        file,
        n_rows: features.n_rows,
        nodes: features.rows.keys().map(String::as_str).collect(),
    });
    let labels = params.labels.as_deref().zip(labels).map(|(file, labels)| Names {
        file,
        n_rows: labels.n_rows,
        nodes: labels.classes.keys().map(String::as_str).collect(),
    });
    if features.is_none() && labels.is_none() {
        return Ok(());
    }
    let linked: BTreeSet<&str> = links.iter().flat_map(|(a, b)| [a.as_str(), b.as_str()]).collect();
    for names in [features, labels].into_iter().flatten() {
        let agreement = names::agreement(&names, params.edges.as_deref().unwrap_or_default(), &linked)?;
        if agreement.is_whole {
            tracing::info!("{}", agreement.text);
        } else {
            tracing::warn!("{}", agreement.text);
        }
    }
    Ok(())
}

/// Puts names in ascending order: as numbers if all are, else as text.
fn ordered<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<&str> = names.into_iter().collect();
    let numbers: Option<Vec<u64>> = names.iter().map(|name| name.parse().ok()).collect();
    if let Some(numbers) = numbers {
        let mut both: Vec<(u64, &str)> = numbers.into_iter().zip(names).collect();
        both.sort_unstable();
        both.into_iter().map(|(_, name)| name.to_owned()).collect()
    } else {
        names.sort_unstable();
        names.into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests;
