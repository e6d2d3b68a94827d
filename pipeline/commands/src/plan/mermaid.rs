//! A plan as a graph for Mermaid: stage functions by side, and the artifacts that pass between them.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_runner::task::{Task, Wire};

/// What the node of a stage function is called.
type Node = String;

/// The graph. Tasks of one stage function are one node, which says how many they are.
pub(super) fn written(tasks: &[Task]) -> String {
    let mut nodes: Vec<(&str, &str, &str)> = Vec::new();
    let mut numbers: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut files: BTreeSet<(&str, Node)> = BTreeSet::new();
    let mut artifacts: BTreeMap<(Node, Node), BTreeSet<&str>> = BTreeMap::new();
    for task in tasks {
        let number = numbers.entry((task.stage, task.function)).or_default();
        if *number == 0 {
            nodes.push((task.side, task.stage, task.function));
        }
        *number += 1;
        for wire in task.slots.iter().flat_map(|slot| &slot.wires) {
            match wire {
                Wire::Output { task: source, artifact } => {
                    artifacts.entry((node(&tasks[*source]), node(task))).or_default().insert(*artifact);
                }
                Wire::Raw(file) => {
                    files.insert((file.name.as_str(), node(task)));
                }
            }
        }
    }
    let mut lines = vec!["flowchart LR".to_owned()];
    for side in ["owner", "server", "auditor"] {
        let mine: Vec<_> = nodes.iter().filter(|(of, ..)| *of == side).collect();
        if mine.is_empty() {
            continue;
        }
        lines.push(format!("  subgraph {side}"));
        for (_, stage, function) in mine {
            let name = if stage == function { (*stage).to_owned() } else { format!("{stage} {function}") };
            let times = match numbers[&(*stage, *function)] {
                1 => String::new(),
                number => format!(" × {number}"),
            };
            lines.push(format!("    {stage}.{function}[\"{name}{times}\"]"));
        }
        lines.push("  end".to_owned());
    }
    for (place, (name, reader)) in files.iter().enumerate() {
        lines.push(format!("  file{place}[/\"{}\"/] --> {reader}", name.replace('"', "#quot;")));
    }
    for ((from, to), names) in &artifacts {
        lines.push(format!("  {from} -- \"{}\" --> {to}", names.iter().copied().collect::<Vec<_>>().join(", ")));
    }
    lines.join("\n")
}

/// The node of a task.
fn node(task: &Task) -> Node {
    format!("{}.{}", task.stage, task.function)
}
