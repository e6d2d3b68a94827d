//! Which columns of a table are read: those a parameter names, else those with a usual name, else those in the usual
//! place.

use super::labels::MISSING;
use super::matrix;
use super::table::Table;
use crate::error::Error;
use crate::params::Params;

/// Usual names of the two ends of a link.
const LINK_ENDS: [[&str; 2]; 8] = [
    ["source", "target"],
    ["from", "to"],
    ["src", "dst"],
    ["u", "v"],
    ["node_1", "node_2"],
    ["node1", "node2"],
    ["id_1", "id_2"],
    ["id1", "id2"],
];

/// Usual names of a column of weights.
const WEIGHTS: [&str; 2] = ["weight", "probability"];

/// Names that only a column of nodes has; the first of them wins.
const NODES: [&str; 6] = ["node", "node_id", "nodeid", "node_name", "vertex", "vertex_id"];

/// Names that a column of nodes has unless there is a better one; the leftmost wins.
const PERHAPS_NODES: [&str; 7] = ["id", "user", "user_id", "userid", "name", "username", "user_name"];

/// Names of a column of classes; the rightmost wins.
const CLASSES: [&str; 5] = ["label", "labels", "class", "target", "category"];

/// Names of the column of features in rows of three columns or more.
const FEATURES: [&str; 4] = ["feature", "feature_id", "featureid", "feature_name"];

/// Where features stand.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FeatureColumns {
    /// Each row is one feature of one node.
    Triplets { node: usize, feature: usize, value: usize },
    /// Each row is one node, and each other column a feature.
    Dense { node: usize },
}

/// Whether a column of this name tells that the row holds column names.
pub(super) fn is_usual_name(column: &str) -> bool {
    let column = column.to_lowercase();
    let names = LINK_ENDS.as_flattened().iter().chain(&NODES).chain(&PERHAPS_NODES).chain(&CLASSES);
    names.into_iter().any(|&name| name == column)
}

/// Whether a column has no name, or one that pandas makes up for such a column.
pub(super) fn is_unnamed(column: &str) -> bool {
    column.is_empty() || column.to_lowercase().starts_with("unnamed:") || is_index(column)
}

/// Whether a column is the index of a data frame in a Parquet or Arrow file.
fn is_index(column: &str) -> bool {
    column.starts_with("__index_level_")
}

/// The columns of the two ends of a link.
///
/// # Errors
/// When a named column is absent, when the first column has no name, or when two pairs of names could be meant.
pub(super) fn of_links(table: &Table, params: &Params) -> Result<[usize; 2], Error> {
    if let (Some(source), Some(target)) = (&params.source_column, &params.target_column) {
        let ends = [table.named(source)?, table.named(target)?];
        if ends[0] == ends[1] {
            let problem = format!("{} would hold both ends of a link", title(table, ends[0]));
            return Err(table.error_in_header(problem, "name two columns with `source_column` and `target_column`"));
        }
        return Ok(ends);
    }
    refuse_unnamed(table, "or name the columns to read with `source_column` and `target_column`")?;
    let pairs = LINK_ENDS.iter().filter_map(|[a, b]| Some([table.position(a)?, table.position(b)?]));
    match pairs.collect::<Vec<_>>()[..] {
        [] => {
            matrix::refuse(table)?;
            Ok([0, 1])
        }
        [pair] => Ok(pair),
        [[first, _], [second, _], ..] => Err(table.error_in_header(
            format!("the links could begin in {} or in {}", title(table, first), title(table, second)),
            "name the columns to read with `source_column` and `target_column`",
        )),
    }
}

/// Whether a field says that there is no value.
pub(super) fn is_absent(field: &str) -> bool {
    // As a class, `-` stands beside `+`.
    field.is_empty() || field == "-" || MISSING.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// Whether a column holds numbers, perhaps not in every row.
fn holds_numbers(table: &Table, at: usize) -> bool {
    let is_truth = |field: &str| ["true", "false"].iter().any(|word| field.eq_ignore_ascii_case(word));
    let is_number = |field: &str| field.parse::<f64>().is_ok() || is_truth(field);
    let mut fields = table.rows.iter().map(|(_, row)| row[at].as_str()).filter(|field| !is_absent(field)).peekable();
    fields.peek().is_some() && fields.all(is_number)
}

/// The column of the weights of links, if there is one: the `chosen` one, or one of a usual name; without column names, the third of
/// three.
///
/// # Errors
/// When the chosen column is absent, when there are more columns than three and no names, or when no column is known to hold weights
/// and another one than the ends holds numbers.
pub(super) fn of_weights(table: &Table, ends: [usize; 2], chosen: Option<&str>) -> Result<Option<usize>, Error> {
    if let Some(name) = chosen {
        let at = table.named(name)?;
        if ends.contains(&at) {
            let problem = format!("{} would hold nodes and weights", title(table, at));
            return Err(table.error_in_header(problem, "name another column with `weight_column`"));
        }
        return Ok(Some(at));
    }
    if let Some(header) = &table.header {
        for usual in WEIGHTS {
            if let Some(at) = table.chosen(usual)? {
                return Ok(Some(at));
            }
        }
        let may_be_weights = |at: &usize| !ends.contains(at) && !is_unnamed(&header[*at]) && holds_numbers(table, *at);
        return match (0..table.width()).find(may_be_weights) {
            Some(at) => Err(table.error_in_header(
                format!("{} could hold the weights of the links", title(table, at)),
                "name the column of weights with `weight_column`, or remove this one",
            )),
            None => Ok(None),
        };
    }
    match table.width() {
        0..=2 => Ok(None),
        3 => Ok((0..3).find(|at| !ends.contains(at))),
        width => Err(table.error_in_header(
            format!("{width} fields without names"),
            "write two names of nodes and, if you like, a weight; or begin with names of columns: `source,target,weight`",
        )),
    }
}

/// The column of a features table that the parameters call that of the classes.
pub(super) fn class(table: &Table, params: &Params) -> Option<usize> {
    params.label_column.as_deref().and_then(|name| table.position(name))
}

/// The columns of node and class.
///
/// # Errors
/// When a named column is absent, or when the first column has no name and no other is named.
pub(super) fn of_labels(table: &Table, params: &Params) -> Result<[usize; 2], Error> {
    let chosen_label = params.label_column.as_deref().map(|name| table.named(name)).transpose()?;
    let node = if let Some(name) = &params.node_column {
        table.named(name)?
    } else {
        refuse_unnamed(table, "or name the columns to read with `node_column` and `label_column`")?;
        with_usual_name(table)
    };
    let by_name = || (0..table.width()).rev().find(|&at| at != node && is_one_of(table, at, &CLASSES));
    let last = || (0..table.width()).rev().find(|&at| at != node).unwrap_or(0);
    Ok([node, chosen_label.or_else(by_name).unwrap_or_else(last)])
}

/// The column of nodes in the file that lists them.
///
/// # Errors
/// When the first column has no name and no other is named.
pub(super) fn of_nodes(table: &Table, params: &Params) -> Result<usize, Error> {
    if let Some(chosen) = chosen_node(table, params)? {
        return Ok(chosen);
    }
    refuse_unnamed(table, "or name the column to read with `node_column`")?;
    Ok(with_usual_name(table))
}

/// The columns of features.
///
/// # Errors
/// When the first column has no name, or when two columns could name the node.
pub(super) fn of_features(table: &Table, params: &Params) -> Result<FeatureColumns, Error> {
    refuse_unnamed(table, "or remove the column by hand")?;
    let chosen = chosen_node(table, params)?;
    if let Some((feature, value)) = feature_and_value(table) {
        let others = || (0..table.width()).filter(|&at| at != feature && at != value);
        let by_name = NODES.iter().find_map(|name| table.position(name));
        let node = chosen.or(by_name).or_else(|| others().find(|&at| is_one_of(table, at, &PERHAPS_NODES)));
        return Ok(FeatureColumns::Triplets { node: node.or_else(|| others().next()).unwrap_or(0), feature, value });
    }
    if let Some(node) = chosen {
        return Ok(FeatureColumns::Dense { node });
    }
    let may_name_node = |&at: &usize| is_one_of(table, at, &NODES) || (at == 0 && is_one_of(table, at, &["id"]));
    match (0..table.width()).filter(may_name_node).collect::<Vec<_>>()[..] {
        [] => Ok(FeatureColumns::Dense { node: 0 }),
        [node] => Ok(FeatureColumns::Dense { node }),
        [first, second, ..] => Err(table.error_in_header(
            format!("{} and {} could both name the node", title(table, first), title(table, second)),
            "remove the one that does not",
        )),
    }
}

/// The column that the parameters call that of the nodes, where this file has it.
fn chosen_node(table: &Table, params: &Params) -> Result<Option<usize>, Error> {
    params.node_column.as_deref().map_or(Ok(None), |name| table.chosen(name))
}

/// The column with a usual name of nodes, else the first.
fn with_usual_name(table: &Table) -> usize {
    let by_name = NODES.iter().find_map(|name| table.position(name));
    by_name.or_else(|| leftmost(table, &PERHAPS_NODES)).unwrap_or(0)
}

/// The columns of feature and value, if the names of the columns say that each row is one feature.
fn feature_and_value(table: &Table) -> Option<(usize, usize)> {
    let header = table.header.as_deref()?;
    let value = table.position("value")?;
    let is_feature = |column: &String| {
        let column = column.to_lowercase();
        if header.len() == 3 { column.starts_with("feature") } else { FEATURES.contains(&column.as_str()) }
    };
    let features: Vec<usize> = (0..header.len()).filter(|&at| is_feature(&header[at])).collect();
    match features[..] {
        [feature] if header.len() >= 3 => Some((feature, value)),
        _ => None,
    }
}

/// Which columns are read as what, and which are not read. How many rows there are is left to whoever may say it.
pub(super) fn account(table: &Table, roles: &[(&str, usize)]) -> String {
    const MOST_NAMED: usize = 5;
    let under = if table.header.is_some() { "below a row of column names" } else { "without a row of column names" };
    let read: Vec<String> = roles.iter().map(|&(role, at)| format!("{role} from {}", title(table, at))).collect();
    let left: Vec<usize> = (0..table.width()).filter(|at| roles.iter().all(|(_, read)| read != at)).collect();
    let mut text = format!("{under}; {}", read.join(", "));
    if !left.is_empty() {
        let named: Vec<String> = left.iter().take(MOST_NAMED).map(|&at| title(table, at)).collect();
        let more = left.len().saturating_sub(MOST_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        text += &format!("; not read: {}{more}", named.join(", "));
    }
    text
}

/// What to call a column in a message.
pub(super) fn title(table: &Table, at: usize) -> String {
    match table.header.as_ref().and_then(|header| header.get(at)) {
        Some(name) => format!("column `{name}`"),
        None => format!("column {}", at + 1),
    }
}

/// Programs write row numbers into a first column without a name; read as nodes, they give another graph.
fn refuse_unnamed(table: &Table, other_remedy: &str) -> Result<(), Error> {
    if table.header.iter().flatten().any(|name| is_index(name)) {
        let problem = "a column is the index of a data frame, which is row numbers or names without a title";
        let remedy = format!(
            "write the table without it (`df.to_parquet(..., index=False)`), or `df.reset_index()` first; {other_remedy}"
        );
        return Err(table.error_in_header(problem, remedy));
    }
    let first = table.header.as_ref().and_then(|header| header.first());
    if first.is_some_and(|name| is_unnamed(name)) {
        return Err(table.error_in_header(
            "the first column has no name, as the row numbers that pandas writes",
            format!(
                "write the table without them (`df.to_csv(..., index=False)`) or, if they are the nodes, with a name \
                 (`index_label=\"node\"`); {other_remedy}"
            ),
        ));
    }
    Ok(())
}

fn is_one_of(table: &Table, at: usize, names: &[&str]) -> bool {
    let name = table.header.as_ref().and_then(|header| header.get(at)).map(|name| name.to_lowercase());
    name.is_some_and(|name| names.contains(&name.as_str()))
}

fn leftmost(table: &Table, names: &[&str]) -> Option<usize> {
    (0..table.width()).find(|&at| is_one_of(table, at, names))
}
