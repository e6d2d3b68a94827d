//! GraphML (Brandes et al. 2001): a table of nodes and one of links, with their attributes as columns.

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};

use super::{Row, Subject};
use crate::error::Error;
use crate::raw::Files;

const REMEDY: &str = "write it again (networkx: `nx.write_graphml(graph, path)`)";

/// The attributes of nodes or of links: the name of each, and its column.
struct Attributes<'a> {
    names: Vec<String>,
    columns: BTreeMap<&'a str, usize>,
    defaults: Vec<String>,
}

/// The names of the columns and the rows: `node` and the attributes of nodes, or `source`, `target` and the attributes
/// of links.
pub(super) fn read(files: &Files, file: &str, subject: Subject) -> Result<(Vec<String>, Vec<Row>), Error> {
    let wrong = |problem: String| Error::new(file, "", format!("not GraphML ({problem})"), REMEDY);
    let text = files.text(file)?;
    let options = ParsingOptions { nodes_limit: u32::MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&text, options).map_err(|error| wrong(error.to_string()))?;
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        return Err(wrong(format!("it begins with <{}>", root.tag_name().name())));
    }
    let mut graphs = root.children().filter(|child| child.has_tag_name_of("graph"));
    let (Some(graph), None) = (graphs.next(), graphs.next()) else {
        return Err(Error::new(file, "", "the file has none or several graphs", "write one graph into it"));
    };
    for (name, problem) in [("graph", "a graph inside a node"), ("hyperedge", "links of more than two nodes")] {
        if graph.descendants().skip(1).any(|inside| inside.has_tag_name_of(name)) {
            return Err(Error::new(
                file,
                "",
                format!("the file has {problem}"),
                "write nodes and links of two nodes alone",
            ));
        }
    }
    let (element, ends): (_, &[&str]) = match subject {
        Subject::Links => ("edge", &["source", "target"]),
        Subject::Nodes => ("node", &["id"]),
    };
    let attributes = Attributes::of(root, element);
    let mut rows = Vec::new();
    for item in graph.children().filter(|child| child.has_tag_name_of(element)) {
        let number = rows.len() as u64 + 1;
        let mut row = Vec::with_capacity(ends.len() + attributes.names.len());
        for end in ends {
            let name = item.attribute(*end).ok_or_else(|| {
                Error::new(file, super::place(file, number), format!("<{element}> has no `{end}`"), REMEDY)
            })?;
            row.push(name.to_owned());
        }
        row.extend(attributes.values(item));
        rows.push((number, row));
    }
    let ends = if subject == Subject::Links { vec!["source", "target"] } else { vec!["node"] };
    Ok((ends.into_iter().map(str::to_owned).chain(attributes.names).collect(), rows))
}

impl<'a> Attributes<'a> {
    /// The attributes that the file declares for `element`.
    fn of(root: Node<'a, '_>, element: &str) -> Self {
        let mut attributes = Self { names: Vec::new(), columns: BTreeMap::new(), defaults: Vec::new() };
        for key in root.children().filter(|child| child.has_tag_name_of("key")) {
            let is_meant = key.attribute("for").is_none_or(|of| of == element || of == "all");
            let (true, Some(id)) = (is_meant, key.attribute("id")) else { continue };
            let default = key.children().find(|child| child.has_tag_name_of("default"));
            attributes.columns.insert(id, attributes.names.len());
            attributes.names.push(key.attribute("attr.name").unwrap_or(id).to_owned());
            attributes.defaults.push(default.and_then(|default| default.text()).unwrap_or_default().trim().to_owned());
        }
        attributes
    }

    /// The values of one node or link.
    fn values(&self, item: Node) -> Vec<String> {
        let mut values = self.defaults.clone();
        for data in item.children().filter(|child| child.has_tag_name_of("data")) {
            if let Some(&column) = data.attribute("key").and_then(|key| self.columns.get(key)) {
                // A remark may stand inside the text.
                let texts = data.descendants().filter(Node::is_text).filter_map(|inside| inside.text());
                texts.collect::<String>().trim().clone_into(&mut values[column]);
            }
        }
        values
    }
}

/// Names of elements are compared without their name space, which some programs leave out.
trait Named {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Named for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}
