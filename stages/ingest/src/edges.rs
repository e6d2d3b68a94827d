//! Text files of a user's own graph, and of the datasets that come as text.

mod features;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::params::Params;
use crate::raw::{Files, RawGraph};

/// Reads links, and features and labels where given. Node names are kept; nodes are numbered by
/// ascending name (as numbers, if all names are numbers).
pub(crate) fn read(files: &Files, params: &Params) -> Result<RawGraph, Error> {
    let edges_file = params.edges.clone().unwrap_or_default();
    let mut links = read_links(files, &edges_file, params)?;
    let features = params.features.as_ref().map(|file| features::read(files, file, params)).transpose()?;
    let mut labels = params.labels.as_ref().map(|file| read_labels(files, file, params)).transpose()?;
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
    let classes = labels.map(|labels| numbered_classes(&labels, &names, params)).transpose()?;
    Ok(RawGraph { names, pairs, features, classes })
}

/// Names in ascending order: as numbers if all are, else as text.
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

/// A text table: its column names, if it has a header, and its rows with their line numbers.
struct TextTable {
    header: Option<Vec<String>>,
    rows: Vec<(u64, Vec<String>)>,
}

/// Reads a table whose fields are separated by commas, tabs, semicolons or spaces.
fn read_table(files: &Files, file: &str, header: Option<bool>) -> Result<TextTable, Error> {
    let text = files.text(file)?;
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    let delimiter = [',', '\t', ';', ' '].into_iter().find(|&delimiter| first.contains(delimiter)).unwrap_or(',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter as u8)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            Error::new(file, format!("line {line}: "), "not a row of a table", "check quotes and separators")
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let fields: Vec<String> =
            record.iter().filter(|field| delimiter != ' ' || !field.is_empty()).map(str::to_owned).collect();
        rows.push((line, fields));
    }
    if rows.is_empty() {
        return Err(Error::new(file, "", "the file is empty", "give at least one row"));
    }
    let width = rows[0].1.len();
    if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != width) {
        let problem = format!("{} fields where the first row has {width}", row.len());
        return Err(Error::new(file, format!("line {line}: "), problem, "give every row the same fields"));
    }
    let has_header = header.unwrap_or_else(|| looks_like_header(&rows));
    let header = has_header.then(|| rows.remove(0).1);
    Ok(TextTable { header, rows })
}

/// A first row is a header if it is the only one that does not begin with a number, or if it uses the
/// usual words.
fn looks_like_header(rows: &[(u64, Vec<String>)]) -> bool {
    const WORDS: [&str; 14] = [
        "source", "target", "from", "to", "id", "id_1", "id_2", "node", "node_1", "node_2", "node_id", "label",
        "class", "src",
    ];
    let number = |row: &(u64, Vec<String>)| row.1.first().is_some_and(|field| field.parse::<f64>().is_ok());
    let words = rows[0].1.iter().any(|field| WORDS.contains(&field.to_lowercase().as_str()));
    words || (rows.len() > 1 && !number(&rows[0]) && rows[1..].iter().all(number))
}

fn read_links(files: &Files, file: &str, params: &Params) -> Result<Vec<(String, String)>, Error> {
    let table = read_table(files, file, params.header)?;
    let mut links = Vec::with_capacity(table.rows.len());
    for (line, mut row) in table.rows {
        let place = format!("line {line}: ");
        if row.len() < 2 {
            return Err(Error::new(
                file,
                place,
                format!("{} field", row.len()),
                "a link has two ends: `source,target`",
            ));
        }
        let (a, b) = (std::mem::take(&mut row[0]), std::mem::take(&mut row[1]));
        if a.is_empty() || b.is_empty() {
            return Err(Error::new(file, place, "a link with an empty end", "name both nodes"));
        }
        links.push((a, b));
    }
    Ok(links)
}

/// Class of each node as text.
fn read_labels(files: &Files, file: &str, params: &Params) -> Result<BTreeMap<String, (u64, String)>, Error> {
    let table = read_table(files, file, params.header)?;
    let column = |wanted: &Option<String>, default: usize| match wanted {
        None => Ok(default),
        Some(name) => {
            let header = table.header.as_deref().unwrap_or_default();
            header.iter().position(|column| column == name).ok_or_else(|| {
                Error::new(
                    file,
                    "line 1: ",
                    format!("there is no column `{name}`"),
                    format!("the columns are {header:?}"),
                )
            })
        }
    };
    let width = table.rows.first().map_or(0, |(_, row)| row.len());
    if width < 2 {
        return Err(Error::new(file, "", format!("{width} column"), "labels need two: `node,label`"));
    }
    let (node_at, label_at) = (column(&params.node_column, 0)?, column(&params.label_column, width - 1)?);
    let mut labels = BTreeMap::new();
    for (line, row) in &table.rows {
        let (node, label) = (&row[node_at], &row[label_at]);
        let place = format!("line {line}: ");
        if node.is_empty() {
            return Err(Error::new(file, place, "a label without a node", "name the node"));
        }
        if label.is_empty() {
            continue;
        }
        if labels.insert(node.clone(), (*line, label.clone())).is_some_and(|(_, before)| before != *label) {
            return Err(Error::new(file, place, format!("node `{node}` has two labels"), "give each node one label"));
        }
    }
    Ok(labels)
}

/// Classes numbered by ascending label (as numbers, if all labels are numbers).
fn numbered_classes(
    labels: &BTreeMap<String, (u64, String)>,
    names: &[String],
    params: &Params,
) -> Result<(usize, Vec<Option<u16>>), Error> {
    let file = params.labels.clone().unwrap_or_default();
    let classes = ordered(labels.values().map(|(_, label)| label.as_str()).collect::<BTreeSet<_>>());
    if classes.len() < 2 {
        let problem = format!("{} class only", classes.len());
        return Err(Error::new(&file, "", problem, "a classifier needs at least two classes"));
    }
    let fraction = classes
        .iter()
        .find(|class| class.contains('.') && class.parse::<f64>().is_ok_and(|v| v.fract() != 0.0 || v.is_nan()));
    if classes.len() > 65_535 || classes.len() > labels.len() / 2 + 2 || fraction.is_some() {
        let line = fraction
            .and_then(|class| labels.values().find(|(_, label)| label == class))
            .map_or(String::new(), |(line, _)| format!("line {line}: "));
        let problem = format!("{} different labels among {} nodes are no classes", classes.len(), labels.len());
        return Err(Error::new(&file, line, problem, "set `label_column` to the column of the classes"));
    }
    let number: BTreeMap<&str, u16> =
        classes.iter().enumerate().map(|(class, label)| (label.as_str(), class as u16)).collect();
    Ok((classes.len(), names.iter().map(|name| labels.get(name).map(|(_, label)| number[label.as_str()])).collect()))
}
