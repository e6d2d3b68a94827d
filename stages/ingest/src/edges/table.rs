//! Tables: rows of equally many fields, with or without column names, whatever kind of file they come from.

mod arrow;
mod graphml;
mod parquet;
mod text;

use super::arrays::is_array;
use crate::error::Error;
use crate::raw::{Files, decompressed_name};

/// A table whose fields are text.
pub(super) struct Table {
    /// The name of the file.
    pub file: String,
    /// The names of the columns, if the file has them.
    pub header: Option<Vec<String>>,
    /// The line of the first row, column names or not.
    first_line: u64,
    /// The rows below, each with its line number, or its row number where a file has no lines.
    pub rows: Vec<Row>,
    /// Whether attributes in braces, as networkx writes them, stood behind the rows and were cut, and a number was among them.
    pub had_numbers_in_braces: bool,
}

/// A row with its number.
pub(super) type Row = (u64, Vec<String>);

/// What is asked of a file that describes nodes and links at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// A row for each link.
    Links,
    /// A row for each node.
    Nodes,
}

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Parquet,
    Arrow,
    GraphMl,
}

impl Kind {
    /// The kind of a file by the end of its name.
    fn of(file: &str) -> Self {
        match decompressed_name(file).rsplit('.').next().map(str::to_lowercase).as_deref() {
            Some("parquet") => Self::Parquet,
            Some("arrow" | "feather" | "ipc") => Self::Arrow,
            Some("graphml") => Self::GraphMl,
            _ => Self::Text,
        }
    }
}

/// Whether a file is text by the end of its name.
pub(super) fn is_text(file: &str) -> bool {
    Kind::of(file) == Kind::Text && !is_array(file)
}

/// Where a row stands, in messages: only text has lines.
pub(super) fn place(file: &str, row: u64) -> String {
    format!("{} {row}: ", if is_text(file) { "line" } else { "row" })
}

impl Table {
    /// Reads the rows about `subject`. `header` says whether text begins with a row of column names; otherwise its words
    /// decide.
    pub(super) fn read(files: &Files, file: &str, header: Option<bool>, subject: Subject) -> Result<Self, Error> {
        let named_columns = |(names, rows): (Vec<String>, Vec<Row>)| {
            if let Some((row, fields)) = rows.iter().find(|(_, fields)| fields.len() != names.len()) {
                let problem = format!("{} fields for {} columns", fields.len(), names.len());
                return Err(Error::new(file, place(file, *row), problem, "write the file again"));
            }
            if names.is_empty() || rows.is_empty() {
                return Err(Error::new(file, "", "the table has no row", "give at least one"));
            }
            Ok(Self { file: file.to_owned(), header: Some(names), first_line: 0, rows, had_numbers_in_braces: false })
        };
        match Kind::of(file) {
            Kind::Text => text::read(files, file, header),
            Kind::Parquet => parquet::read(files, file).and_then(named_columns),
            Kind::Arrow => arrow::read(files, file).and_then(named_columns),
            Kind::GraphMl => graphml::read(files, file, subject).and_then(named_columns),
        }
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.header.as_ref().or(self.rows.first().map(|(_, row)| row)).map_or(0, Vec::len)
    }

    /// The column called `name`, whatever the case of its letters.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.positions(name).first().copied()
    }

    /// All columns called `name`; whatever the case of their letters, where none is called exactly so.
    fn positions(&self, name: &str) -> Vec<usize> {
        let header = self.header.as_deref().unwrap_or_default();
        let columns = |is_called: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..header.len()).filter(|&at| is_called(&header[at])).collect()
        };
        let exact = columns(&|column| column == name);
        if exact.is_empty() { columns(&|column| column.to_lowercase() == name.to_lowercase()) } else { exact }
    }

    /// The column that a parameter calls `name`, where this file has it.
    ///
    /// # Errors
    /// When several columns are called so.
    pub(super) fn chosen(&self, name: &str) -> Result<Option<usize>, Error> {
        match self.positions(name)[..] {
            [] => Ok(None),
            [at] => Ok(Some(at)),
            _ => {
                let problem = format!("several columns are called `{name}`, and one of them is to be read");
                Err(self.error_in_header(problem, "give each a name of its own"))
            }
        }
    }

    /// The column that a parameter calls `name`, which this file must have.
    pub(super) fn named(&self, name: &str) -> Result<usize, Error> {
        self.chosen(name)?.ok_or_else(|| {
            let columns = format!("the columns are {:?}", self.header.as_deref().unwrap_or_default());
            self.error_in_header(format!("there is no column `{name}`"), columns)
        })
    }

    /// An error in the row of column names.
    pub(super) fn error_in_header(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        let place = if Kind::of(&self.file) == Kind::Text { place(&self.file, self.first_line) } else { String::new() };
        self.error(place, problem, remedy)
    }

    /// An error in this file.
    pub(super) fn error(
        &self,
        place: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::new(&self.file, place, problem, remedy)
    }
}

#[cfg(test)]
mod tests;
