//! The best estimator on graphs that it was not made for, and settings that contradict each other.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{BLINK_TABLES, Lab, TINY, rows};

/// A graph as it is written to files.
struct Graph {
    name: &'static str,
    edges: Vec<(usize, usize)>,
    /// Class and words of each node, where there are any.
    nodes: Option<Vec<(usize, Vec<usize>)>>,
}

const WORDS: usize = 20;

/// Numbers in [0, 1) from one seed (Steele, Lea, Flood 2014, `SplitMix`).
struct Numbers(u64);

impl Numbers {
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A link between two of so many nodes where `probability` says so.
    fn links(&mut self, n_nodes: usize, probability: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
        let pairs = (0..n_nodes).flat_map(|j| (0..j).map(move |i| (i, j)));
        pairs.filter(|&(i, j)| self.draw() < probability(i, j)).collect()
    }

    /// A class for each node, and words: as many of the class's own as `informative` says, the others at random.
    fn nodes(&mut self, classes: &[usize], informative: bool) -> Vec<(usize, Vec<usize>)> {
        let mut words = |class: usize| -> Vec<usize> {
            let own = if informative { 3 } else { 0 };
            (0..5)
                .map(|word| {
                    let among = if word < own { WORDS / 4 } else { WORDS };
                    let first = if word < own { class * among % WORDS } else { 0 };
                    first + (self.draw() * among as f64) as usize
                })
                .collect()
        };
        classes.iter().map(|&class| (class, words(class))).collect()
    }
}

/// Three blocks, links mostly inside them.
fn blocks(n_nodes: usize, is_labelled: bool) -> Graph {
    let mut numbers = Numbers(1);
    let strength = |i: usize, j: usize| if i % 3 == j % 3 { 15.0 } else { 1.5 };
    let edges = numbers.links(n_nodes, |i, j| strength(i, j) / n_nodes as f64);
    let classes: Vec<usize> = (0..n_nodes).map(|node| node % 3).collect();
    let nodes = is_labelled.then(|| numbers.nodes(&classes, true));
    Graph { name: "blocks", edges, nodes }
}

/// Six blocks that hold nearly all links, about nine for each node; nobody says which node is in which.
fn unlabelled_blocks(n_nodes: usize) -> Graph {
    let strength = |i: usize, j: usize| if i % 6 == j % 6 { 48.0 } else { 1.2 };
    let edges = Numbers(4).links(n_nodes, |i, j| strength(i, j) / n_nodes as f64);
    Graph { name: "unlabelled blocks", edges, nodes: None }
}

/// Degrees that follow a power law with exponent 2.5, about six on average (Chung, Lu 2002); labels and words tell nothing.
fn power_law(n_nodes: usize, is_labelled: bool) -> Graph {
    let mut numbers = Numbers(2);
    let weight = |node: usize| (node as f64 + 1.0).powf(-1.0 / 1.5);
    let total: f64 = (0..n_nodes).map(weight).sum();
    let scale = 6.0 * n_nodes as f64 / (total * total);
    let edges = numbers.links(n_nodes, |i, j| scale * weight(i) * weight(j));
    let classes: Vec<usize> = (0..n_nodes).map(|_| (numbers.draw() * 3.0) as usize).collect();
    let nodes = is_labelled.then(|| numbers.nodes(&classes, false));
    Graph { name: "power law", edges, nodes }
}

/// Groups of ten in which everybody knows everybody, of two classes in turn; words tell nothing.
fn cliques(n_groups: usize, is_labelled: bool) -> Graph {
    let edges = (0..10 * n_groups).flat_map(|j| (j / 10 * 10..j).map(move |i| (i, j))).collect();
    let classes: Vec<usize> = (0..10 * n_groups).map(|node| node / 10 % 2).collect();
    Graph { name: "cliques", edges, nodes: is_labelled.then(|| Numbers(3).nodes(&classes, false)) }
}

fn star() -> Graph {
    Graph { name: "star", edges: (1..200).map(|leaf| (0, leaf)).collect(), nodes: None }
}

fn path() -> Graph {
    Graph { name: "path", edges: (1..200).map(|node| (node - 1, node)).collect(), nodes: None }
}

/// Two ways to read reports.
struct Compared {
    /// The tables of `[[compare]]` that define them.
    tables: &'static str,
    /// The name of the one that is to be no worse.
    better: &'static str,
    other: &'static str,
}

/// The published method, and the best one.
const METHODS: Compared = Compared {
    tables: "[[compare]]\nname = \"published\"\nestimate.method = \"published\"\n\
             [[compare]]\nname = \"best\"\nprivatize.links.degree_fraction = \"auto-with-bits\"\nestimate.method = \"best\"\n",
    better: "best",
    other: "published",
};

/// The best method, with latent blocks and without.
const LATENT: Compared = Compared {
    tables: "[[compare]]\nname = \"without\"\nprivatize.links.degree_fraction = \"auto-with-bits\"\nestimate.latent_blocks = 0\n\
             [[compare]]\nname = \"with\"\nprivatize.links.degree_fraction = \"auto-with-bits\"\nestimate.latent_blocks = \"auto\"\n",
    better: "with",
    other: "without",
};

/// The scores of both ways by name, budget and metric, one for each trial.
fn scores(graph: &Graph, compared: &Compared, trials: usize) -> BTreeMap<(String, String, String), Vec<f64>> {
    let files = if graph.nodes.is_some() { "labels = \"labels.csv\"\nfeatures = \"features.csv\"\n" } else { "" };
    let lab = Lab::with(
        "config.toml",
        format!(
            "name = \"graph\"\ntrials = {trials}\n[ingest]\nedges = \"edges.csv\"\n{files}\
             [privatize.links]\nepsilon = [2, 4]\ndegree_fraction = 0.1\n[evaluate]\nmetrics = [\"link-error\"]\n{}",
            compared.tables
        ),
    );
    let edges: String = graph.edges.iter().map(|(i, j)| format!("{i},{j}\n")).collect();
    lab.write("edges.csv", format!("source,target\n{edges}"));
    if let Some(nodes) = &graph.nodes {
        let labels: String =
            nodes.iter().enumerate().map(|(node, (class, _))| format!("{node},class-{class}\n")).collect();
        lab.write("labels.csv", format!("node,label\n{labels}"));
        let columns: String = (0..WORDS).map(|word| format!(",w{word}")).collect();
        let row = |(node, (_, words)): (usize, &(usize, Vec<usize>))| {
            let values: String = (0..WORDS).map(|word| format!(",{}", u8::from(words.contains(&word)))).collect();
            format!("{node}{values}\n")
        };
        let features: String = nodes.iter().enumerate().map(row).collect();
        lab.write("features.csv", format!("node{columns}\n{features}"));
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    rows(&lab.json(&[])["metrics"])
        .map(|row| {
            let values = rows(&row["values"]).filter_map(Value::as_f64).collect();
            ((text(&row["alternative"]), text(&row["epsilon"]), text(&row["metric"])), values)
        })
        .collect()
}

/// `gains` are by how much one method was better than another in each trial. If both were equally good on average, the
/// mean gain would lie so many standard errors below 0 with a chance of 1e-4 (Student's t, for normal gains).
fn is_no_loss(gains: &[f64], standard_errors: f64) -> bool {
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Scores of a graph that both methods find are equal but for the last digits.
    mean >= -standard_errors * (variance / n).sqrt() - 1e-6
}

/// By how much the better way is better in each trial, at every budget, in average precision and log loss.
fn gains(graph: &Graph, compared: &Compared, trials: usize) -> Vec<(String, Vec<f64>)> {
    let scores = scores(graph, compared, trials);
    let cells = ["2.0", "4.0"].into_iter().flat_map(|epsilon| {
        [("average_precision", 1.0), ("log_loss_per_link", -1.0)].map(|(metric, sign)| (epsilon, metric, sign))
    });
    cells
        .map(|(epsilon, metric, sign)| {
            let of = |name: &str| {
                let key = (name.to_owned(), epsilon.to_owned(), metric.to_owned());
                let found = scores.get(&key).unwrap_or_else(|| panic!("{}: no {key:?}", graph.name));
                assert_eq!(found.len(), trials, "{}: {key:?}", graph.name);
                found.clone()
            };
            let both = of(compared.better).into_iter().zip(of(compared.other));
            let gains = both.map(|(better, other)| sign * (better - other)).collect();
            (format!("{} at {epsilon}, {metric}", graph.name), gains)
        })
        .collect()
}

/// Whatever the graph, the better way is not worse than the other one from the same budget.
fn never_worse(graph: &Graph, compared: &Compared, trials: usize, standard_errors: f64) {
    for (what, gains) in gains(graph, compared, trials) {
        assert!(is_no_loss(&gains, standard_errors), "{what}: {} less {}: {gains:?}", compared.better, compared.other);
    }
}

/// 20 comparisons: if `best` were just as good as `published` everywhere, other noise would make this fail in 0.2 % of all
/// cases. With twelve trials, 5.453 is the quantile.
#[test]
fn best_is_never_worse_on_links_alone() {
    for graph in [blocks(300, false), power_law(300, false), cliques(20, false), star(), path()] {
        never_worse(&graph, &METHODS, 12, 5.453);
    }
}

/// The same where the server holds labels and words, which tell something in the first graph, half of it in the last and
/// nothing in the second: twelve comparisons, 0.12 %. With five trials, 13.034 is the quantile.
#[test]
fn best_is_never_worse_with_labels_and_features() {
    for graph in [blocks(150, true), power_law(150, true), cliques(12, true)] {
        never_worse(&graph, &METHODS, 5, 13.034);
    }
}

/// Nor is it worse for looking for blocks where there are none: 12 comparisons, 0.12 %.
#[test]
fn latent_blocks_are_never_worse_where_there_are_none() {
    for graph in [power_law(300, false), star(), path()] {
        never_worse(&graph, &LATENT, 12, 5.453);
    }
}

/// Where there are blocks, links are found better at both budgets: in average precision by more than blocks that are worth
/// nothing would reach with a chance of 1e-4 each. In log loss they are not worse, as above.
#[test]
fn latent_blocks_are_found_without_labels() {
    for (what, gains) in gains(&unlabelled_blocks(300), &LATENT, 12) {
        let losses: Vec<f64> = gains.iter().map(|gain| -gain).collect();
        let is_gain = !is_no_loss(&losses, 5.453);
        assert!(if what.contains("precision") { is_gain } else { is_no_loss(&gains, 5.453) }, "{what}: {gains:?}");
    }
}

/// Neither a graph without a link nor a split without a node to validate on gets as far as a release.
#[test]
fn what_cannot_be_learned_from_is_refused_first() {
    let cases = [
        ("source,target\n", "{ train = 0.5, validation = 0.25, test = 0.25 }", "the file has no row"),
        ("source,target\n1,1\n", "{ train = 0.5, validation = 0.25, test = 0.25 }", "the graph has no link"),
        ("source,target\n0,1\n2,3\n", "{ train = 0.7, validation = 0, test = 0.3 }", "for the validation split"),
    ];
    for (edges, split, words) in cases {
        let lab = Lab::with(
            "config.toml",
            format!(
                "[ingest]\nedges = \"edges.csv\"\nlabels = \"labels.csv\"\nsplit = {split}\n\
                 [privatize.links]\nepsilon = 2\n[estimate]\nmethod = \"best\"\n[train]\ntask = \"beliefs\"\n"
            ),
        );
        lab.write("edges.csv", edges);
        let labels: String = (0..20).map(|node| format!("{node},{}\n", node % 2)).collect();
        lab.write("labels.csv", format!("node,label\n{labels}"));
        let answer = lab.call(&["run", "config.toml"]);
        assert_eq!(answer.status, 1, "{words}: {}", answer.err);
        assert!(answer.err.contains(words), "{words}: {}", answer.err);
        assert!(!lab.has_entries(), "{words}");
    }
}

#[test]
fn settings_that_contradict_each_other_are_named() {
    let best = "privatize.links.degree_fraction=auto-with-bits";
    let private = "privatize.labels={mechanism=\"randomized-response\", epsilon=2.0}";
    let cases: [(&[&str], &[&str]); 7] = [
        // Believed classes are blended with nothing.
        (&[best, "estimate.method=best", "train={task=\"beliefs\", blend=true}"], &["train.blend", "is not read"]),
        // Noisy labels are no labels of training and validation nodes.
        (
            &[best, "estimate.method=best", private, "train.blend=true"],
            &["train.blend", "labels that the server holds"],
        ),
        (
            &["privatize.links.mechanism=no-links", private, "train.blend=true"],
            &["train.blend", "labels that the server holds"],
        ),
        // Labels say more than latent blocks could.
        (
            &[best, "estimate.method=best", "estimate.latent_blocks=4"],
            &["estimate.latent_blocks", "here it holds labels"],
        ),
        (
            &[best, "estimate.method=published", "estimate.latent_blocks=4"],
            &["latent_blocks = 4", "prior = \"blocks\""],
        ),
        (&["privatize.links.mechanism=symrr", "train.blend=true"], &["train.blend", "mechanism \"symrr\""]),
        (&["train.min_epochs=5"], &["min_epochs", "give patience"]),
    ];
    for (sets, words) in cases {
        let text = TINY.replace(BLINK_TABLES, "").replace("trials = 2\n", "trials = 1\n");
        let lab = Lab::with("config.toml", text);
        let arguments: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
        let answer = lab.call(&[&["run", "config.toml"], &arguments[..]].concat());
        assert_eq!(answer.status, 2, "{sets:?}: {}", answer.err);
        for part in words {
            assert!(answer.err.contains(part), "{sets:?}, {part}: {}", answer.err);
        }
        assert!(!lab.has_entries(), "{sets:?}");
    }
}

/// How many links a graph of similar nodes has follows from the number of neighbours, and a multiple of expected links
/// means nothing to it.
#[test]
fn similar_nodes_read_no_multiple() {
    let lab = Lab::with("config.toml", TINY.replace("variant = \"hybrid\"", "variant = \"similar\""));
    let entries = |more: &[&str]| -> Vec<f64> {
        let document = lab.json(&[&["--set", "privatize.links.mechanism=no-links"], more].concat());
        let found = rows(&document["metrics"]).filter(|row| row["metric"] == "graph_entries");
        found.filter_map(|row| row["mean"].as_f64()).collect()
    };
    let alone = entries(&[]);
    assert!(alone.len() == 1 && alone[0] > 0.0, "{alone:?}");
    assert_eq!(entries(&["--set", "construct.edge_multiple=[1, 2]"]), alone);
}
