//! Which fields of the `[ingest]` table go together.

use super::{Format, Params, SplitParams, SyntheticParams, WrongField};
use crate::error::Error;

impl Params {
    /// Refuses fields that contradict each other; no file is needed to see it.
    ///
    /// # Errors
    /// When a field belongs to another format, lacks its companion, or would be ignored.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.no_file_is_ignored()?;
        self.links_are_given()?;
        self.classes_are_those_of_labels()?;
        self.named_columns_can_be_found()?;
        match &self.split {
            SplitParams::Random(ratios) => ratios.check()?,
            SplitParams::OfParts(wanted) => wanted.check()?,
            _ => {}
        }
        self.synthetic.as_ref().map_or(Ok(()), SyntheticParams::check).map_err(|WrongField { field, problem }| {
            Error::new("[ingest.synthetic]", format!("{field}: "), problem, "docs/config.md describes the fields")
        })
    }

    /// The fields given that only text files have, links first.
    pub(super) fn fields_of_text_files(&self) -> impl Iterator<Item = &'static str> {
        let fields = [
            ("edges", self.edges.is_some()),
            ("nodes", self.nodes.is_some()),
            ("features", self.features.is_some()),
            ("labels", self.labels.is_some()),
            ("header", self.header.is_some()),
            ("source_column", self.source_column.is_some()),
            ("target_column", self.target_column.is_some()),
            ("node_column", self.node_column.is_some()),
            ("label_column", self.label_column.is_some()),
            ("induced", self.induced),
        ];
        fields.into_iter().filter(|(_, is_given)| *is_given).map(|(field, _)| field)
    }

    /// A file that is named but belongs to another format would silently be left out.
    fn no_file_is_ignored(&self) -> Result<(), Error> {
        let format = self.format();
        let fields = [
            ("name", &self.name, Format::Planetoid),
            ("archive", &self.archive, Format::Npz),
            ("edges", &self.edges, Format::Edges),
            ("nodes", &self.nodes, Format::Edges),
            ("features", &self.features, Format::Edges),
            ("labels", &self.labels, Format::Edges),
        ];
        let Some((field, ..)) = fields.into_iter().find(|(_, value, of)| value.is_some() && *of != format) else {
            return Ok(());
        };
        Err(match (field, format) {
            ("name", Format::Synthetic) if self.format.is_none() && self.dataset.as_deref() != Some("synthetic") => {
                wrong(
                    "`name` is given, but no format",
                    "write `format = \"planetoid\"` too; tables and plots take their name from `dataset`",
                )
            }
            (_, Format::Synthetic) => wrong(
                format!("`{field}` names a file, but the graph is synthetic"),
                format!(
                    "remove `{field}`, or remove {}",
                    if self.format.is_some() { "`format = \"synthetic\"`" } else { "`dataset = \"synthetic\"`" }
                ),
            ),
            (_, Format::Npz) => {
                wrong(format!("`{field}` is not read beside `archive`"), format!("remove `{field}` or `archive`"))
            }
            (_, Format::Planetoid | Format::Edges | Format::Ogb) => {
                let format = match format {
                    Format::Planetoid => "planetoid",
                    Format::Ogb => "ogb",
                    _ => "edges",
                };
                wrong(
                    format!("`{field}` is not read in the format \"{format}\""),
                    format!("remove `{field}`, or correct `format`"),
                )
            }
        })
    }

    /// Whoever says something about files means a graph of files, not the synthetic one. A file of nodes may stand
    /// without links, but not the names of the columns of links.
    fn links_are_given(&self) -> Result<(), Error> {
        let needs_links = |field: &&str| self.nodes.is_none() || matches!(*field, "source_column" | "target_column");
        match (self.format(), self.fields_of_text_files().find(needs_links)) {
            (Format::Edges, Some(field)) if self.edges.is_none() => Err(wrong(
                format!("`{field}` is given, but `edges` is missing"),
                "add the line `edges = \"...\"` with the file of links",
            )),
            (Format::Synthetic, _) if self.format.is_none() => match (&self.dataset, &self.folder) {
                (None, Some(_)) => Err(wrong(
                    "`folder` is given, but no file in it",
                    "add the line `edges = \"...\"` with the file of links, or remove `folder`",
                )),
                (Some(name), _) if name != "synthetic" => Err(wrong(
                    format!("`{name}` names a graph of which no file is given"),
                    "add the line `edges = \"...\"` with the file of links, or write `dataset = \"synthetic\"`",
                )),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// A column can be named only where there are names, and the two ends of a link only together.
    fn named_columns_can_be_found(&self) -> Result<(), Error> {
        let columns = [
            ("source_column", &self.source_column),
            ("target_column", &self.target_column),
            ("node_column", &self.node_column),
            ("label_column", &self.label_column),
        ];
        if let (Some(false), Some((field, _))) = (self.header, columns.into_iter().find(|(_, column)| column.is_some()))
        {
            return Err(wrong(
                format!("`{field}` names a column, but `header = false` says that columns have no names"),
                format!("remove `header` or `{field}`"),
            ));
        }
        for [(one, first), (other, second)] in [[columns[0], columns[1]], [columns[2], columns[3]]] {
            if first.is_some() && first == second {
                let name = first.as_deref().unwrap_or_default();
                return Err(wrong(format!("`{one}` and `{other}` are both `{name}`"), "name two different columns"));
            }
        }
        match (&self.source_column, &self.target_column) {
            (Some(_), None) => Err(wrong("`source_column` is given, but `target_column` is not", "name both columns")),
            (None, Some(_)) => Err(wrong("`target_column` is given, but `source_column` is not", "name both columns")),
            _ => Ok(()),
        }
    }
}

/// An error of the table itself.
pub(super) fn wrong(problem: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::new("[ingest]", "", problem, remedy)
}
