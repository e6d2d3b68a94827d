//! Many claims as the rows of one table.

use csv::{ReaderBuilder, StringRecord, Trim};
use toml::{Spanned, Table, Value};
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::config::selection::is_column;

use super::claim::{ClaimTable, Expected};
use super::tolerance::ToleranceText;

/// Head of the column with the tolerances of single rows.
const TOLERANCE: &str = "tolerance";
/// Head of the column with values, where a row has one value.
const EXPECTED: &str = "expected";

/// The claims of the rows of a table; the table itself where it has none.
///
/// # Errors
/// Rows that no program could read as a table, or a cell that says nothing.
pub(super) fn in_rows(table: &ClaimTable) -> Result<Vec<ClaimTable>, ConfigError> {
    let Some(text) = &table.rows else { return Ok(vec![table.clone()]) };
    if table.expected.is_some() {
        return Err(ConfigError("`rows` hold the values, and `expected` does as well; remove one".to_owned()));
    }
    let unreadable = |error: csv::Error| {
        ConfigError(format!("rows: {error}; every row has as many cells as the head, with `|` between them"))
    };
    let mut reader = ReaderBuilder::new().delimiter(b'|').trim(Trim::All).quoting(false).from_reader(text.as_bytes());
    let heads = reader.headers().map_err(unreadable)?.clone();
    if let Some(column) = heads.iter().position(|head| heads.iter().filter(|other| *other == head).count() > 1) {
        return Err(ConfigError(format!("rows: two columns have the head `{}`", &heads[column])));
    }
    let mut tables = Vec::new();
    for (row, record) in reader.records().enumerate() {
        let in_row = |ConfigError(problem): ConfigError| ConfigError(format!("row {} of `rows`: {problem}", row + 1));
        tables.push(of_row(table, &heads, &record.map_err(unreadable)?).map_err(in_row)?);
    }
    if tables.is_empty() {
        return Err(ConfigError("`rows` has no row below its head; add one, or remove the claim".to_owned()));
    }
    Ok(tables)
}

/// The claim of one row.
fn of_row(table: &ClaimTable, heads: &StringRecord, row: &StringRecord) -> Result<ClaimTable, ConfigError> {
    let mut claim = table.clone();
    claim.rows = None;
    let (mut id, mut values) = (table.id.get_ref().clone(), Table::new());
    for (head, cell) in heads.iter().zip(row) {
        let hole = format!("{{{head}}}");
        let is_word = table.id.get_ref().contains(&hole) || table.says.contains(&hole);
        id = id.replace(&hole, cell);
        claim.says = claim.says.replace(&hole, cell);
        if cell.is_empty() {
            continue;
        }
        match head {
            TOLERANCE => claim.tolerance = Some(ToleranceText::Always(number(head, cell)?)),
            EXPECTED if claim.over.is_none() => claim.expected = Some(Expected::One(number(head, cell)?)),
            column if is_column(column) && table.cells.names(column) => {
                return Err(ConfigError(format!("`where` names `{column}` as well; remove one")));
            }
            column if is_column(column) => claim.cells = claim.cells.with(column, cell),
            _ if is_word => {}
            value if claim.over.is_some() => {
                values.insert(value.to_owned(), Value::Float(number(head, cell)?));
            }
            _ => return Err(ConfigError(unknown(head))),
        }
    }
    if [&id, &claim.says].iter().any(|text| text.contains('{')) {
        return Err(ConfigError("`id` or `says` names a column in braces that `rows` do not have".to_owned()));
    }
    claim.id = Spanned::new(table.id.span(), id);
    if !values.is_empty() {
        claim.expected = Some(Expected::Over(values));
    }
    if claim.expected.is_none() {
        return Err(ConfigError("it has no value".to_owned()));
    }
    Ok(claim)
}

fn number(head: &str, cell: &str) -> Result<f64, ConfigError> {
    cell.parse().map_err(|_| ConfigError(format!("`{cell}` below `{head}` is no number; {}", heads())))
}

fn unknown(head: &str) -> String {
    format!("`{head}` is no head of a column that is known; {}", heads())
}

/// What heads may be, for messages.
fn heads() -> &'static str {
    "a head is a column of scores, the path of a swept field, a word that stands in braces in `id` or `says`, `tolerance`, \
     `expected`, or, where `over` is given, a value of that column"
}
