//! The text of a config for one's own graph.

use toml::{Table, Value};

use super::Found;

/// A config that runs at once, with a remark at every choice that its reader may want to change.
pub(super) fn config(ingest: &Table, found: &Found) -> String {
    let has_classes = !found.classes.is_empty();
    let mut lines = vec![
        "# Written by `veilgraph init`; docs/config.md describes every field.".to_owned(),
        "trials = 3                      # repetitions of a simulation; a deployment makes one release".to_owned(),
    ];
    if has_classes {
        let floors = match found.n_features {
            Some(_) => r#"["majority", "no-links", "features-only", "non-private"]"#,
            None => r#"["majority", "non-private"]"#,
        };
        lines.push(format!("references = {floors}"));
        lines.push(
            "                                # floors that cost no budget, and the ceiling with the true links"
                .to_owned(),
        );
    }
    lines.push("\n[ingest]".to_owned());
    lines.extend(ingest.iter().map(|(field, value)| format!("{field} = {}", inline(value))));
    if !found.has_bits && ingest.contains_key("features") {
        lines.push(
            "normalize = \"min-max\"           # every feature from 0 to 1; the default divides a node's features by their sum, as for words"
                .to_owned(),
        );
    }
    if has_classes && !ingest.contains_key("split") {
        lines.push("split = { train = 0.5, validation = 0.25, test = 0.25 }".to_owned());
    }
    lines.push(
        r#"
[privatize.links]
mechanism = "blink"
epsilon = [1.0, 2.0, 4.0]       # nats for an entry of a node's list; a link stands in two lists and costs twice as much
degree_fraction = "auto-with-bits"

[estimate]
method = "best"                 # the default; "published" is the estimator of the paper

[construct]
variant = "hybrid"
edge_multiple = 2"#
            .to_owned(),
    );
    if has_classes && found.n_features.is_none() {
        lines.push(
            r#"
[privatize.features]
mechanism = "feature-free"      # nodes have no features, so something else takes their place

[estimate.features]
substitute = "random"
dimension = 64"#
                .to_owned(),
        );
    }
    if has_classes {
        lines.push(
            r#"
[train]
model = "gcn"
learning_rate = 0.01
weight_decay = 1e-3
dropout = 0.5"#
                .to_owned(),
        );
    } else {
        lines.push(
            "\n[evaluate]\nmetrics = [\"link-error\", \"density\"]   # without classes there is nothing to classify"
                .to_owned(),
        );
    }
    lines.join("\n") + "\n"
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let fields: Vec<String> =
                table.iter().map(|(field, value)| format!("{field} = {}", inline(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        plain => plain.to_string(),
    }
}
