//! Which section of docs/config.md describes a field.

use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../../docs/config.md");

/// The address of the section about a dotted field, or about its table where the field has no section of its own.
pub(super) fn section(field: &str) -> Option<String> {
    // An item of a list is described with its list.
    let parts: Vec<&str> = field.split('.').map(|part| part.split('[').next().unwrap_or(part)).collect();
    let (mut seen, mut table) = (BTreeMap::<String, usize>::new(), "");
    let mut best: Option<(usize, String)> = None;
    for heading in PAGE.lines().filter(|line| line.starts_with("## ") || line.starts_with("### ")) {
        let (marks, title) = heading.split_once(' ').unwrap_or_default();
        let slug = unique(slug(title), &mut seen);
        let names: Vec<&str> = title.split('`').skip(1).step_by(2).collect();
        if marks == "##" {
            // `[privatize.links]` is a table, and `[[compare]]` a list of tables.
            table = names.first().map_or("", |name| name.trim_matches(['[', ']']));
        }
        let of_table: Vec<&str> = table.split('.').filter(|part| !part.is_empty()).collect();
        let Some(inside) = parts.strip_prefix(of_table.as_slice()) else { continue };
        let is_meant = match marks {
            "##" => !of_table.is_empty(),
            _ => inside.len() == 1 && names.contains(&inside[0]),
        };
        // The longer path says more, and a field more than its table.
        let depth = 2 * of_table.len() + usize::from(marks == "###");
        if is_meant && best.as_ref().is_none_or(|(other, _)| depth > *other) {
            best = Some((depth, slug));
        }
    }
    best.map(|(_, slug)| format!("docs/config.md#{slug}"))
}

/// The tables that have a field of this name.
pub(super) fn tables_with(field: &str) -> Vec<&'static str> {
    let (mut tables, mut table) = (Vec::new(), "");
    for heading in PAGE.lines() {
        let names = || heading.split('`').skip(1).step_by(2);
        if heading.starts_with("## ") {
            table = names().next().unwrap_or_default();
        } else if heading.starts_with("### ") && !table.is_empty() && names().any(|name| name == field) {
            tables.push(table);
        }
    }
    tables
}

/// The address of a heading, as GitHub and mdBook make it.
fn slug(title: &str) -> String {
    let kept = title.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    kept.replace(' ', "-")
}

/// The same with a number where an earlier heading has this address.
fn unique(slug: String, seen: &mut BTreeMap<String, usize>) -> String {
    let count = seen.entry(slug.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_leads_to_its_section_or_to_that_of_its_table() {
        for (field, wanted) in [
            ("seed", "seed"),
            ("privacy.budget", "budget"),
            ("ingest.edges", "edges"),
            ("ingest.source_column", "source_column-and-target_column"),
            ("ingest.unheard_of", "ingest"),
            ("privatize.links.unheard_of", "privatizelinks"),
            ("ingest.synthetic.nodes", "ingestsynthetic"),
            ("compare", "compare"),
        ] {
            assert_eq!(section(field), Some(format!("docs/config.md#{wanted}")), "{field}");
        }
        let features = |table: &str| section(&format!("{table}.features"));
        assert!(features("privacy") != features("ingest"), "two headings of one name are told apart");
        assert_eq!(section("unheard_of"), None);
    }
}
