//! A list anywhere is a sweep, and a swept field is told apart everywhere that scores are printed.

use std::fs;

use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Table;
use veilgraph_estimate::features::SubstituteParams;
use veilgraph_privatize::features::{CoordinateParams, gaussian, multi_bit};
use veilgraph_privatize::links::{blink, dprr, l_dpgcn, ldpgen, public, rr, symrr};

use crate::support::{BLINK_TABLES, Lab, TINY, rows};

/// A field, two values, and what else must be set for the field to be read.
struct Sweep {
    field: &'static str,
    values: [&'static str; 2],
    beside: &'static [&'static str],
}

const fn sweep(field: &'static str, values: [&'static str; 2]) -> Sweep {
    Sweep { field, values, beside: &[] }
}

const fn beside(field: &'static str, values: [&'static str; 2], beside: &'static [&'static str]) -> Sweep {
    Sweep { field, values, beside }
}

const BEST: &[&str] = &["estimate.method=best"];
const SIMILAR: &[&str] = &["privatize.links.mechanism=no-links", "construct.variant=similar"];
const LDPGEN: &[&str] = &["privatize.links.mechanism=ldpgen"];
const SOLITUDE: &[&str] = &["privatize.links.mechanism=solitude"];
const ONE_BIT: &[&str] = &["privatize.features.mechanism=one-bit", "privatize.features.epsilon=3"];
const MULTI_BIT: &[&str] = &["privatize.features.mechanism=multi-bit", "privatize.features.epsilon=3"];
const GAUSSIAN: &[&str] = &["privatize.features.mechanism=gaussian", "privatize.features.epsilon=3"];
const LABELS: &[&str] = &["privatize.labels.mechanism=randomized-response", "privatize.labels.epsilon=3"];
const ATTACKED: &[&str] = &["audit.attacks=linkteller", "audit.targets=40"];
const SHADOWED: &[&str] = &["audit.attacks=inductive", "audit.targets=40"];
const DROP: &[&str] = &[LABELS[0], LABELS[1], "train.labels=drop"];
const RANDOM: &[&str] = &["privatize.features.mechanism=feature-free", "estimate.features.substitute=random"];
const SAGE: &[&str] = &["train.model=graphsage"];

const SWEEPS: &[Sweep] = &[
    sweep("ingest.synthetic.nodes", ["100", "120"]),
    sweep("ingest.synthetic.classes", ["2", "3"]),
    sweep("ingest.synthetic.mean_degree", ["4.0", "5.0"]),
    sweep("ingest.synthetic.exponent", ["2.5", "3.0"]),
    sweep("ingest.synthetic.degree_spread", ["0.8", "1.2"]),
    sweep("ingest.synthetic.homophily", ["0.6", "0.8"]),
    sweep("ingest.synthetic.features", ["40", "50"]),
    sweep("ingest.synthetic.words", ["5.0", "6.0"]),
    sweep("ingest.synthetic.topic_share", ["0.4", "0.6"]),
    sweep("ingest.synthetic.ambiguous_share", ["0.0", "0.2"]),
    sweep("ingest.synthetic.seed", ["1", "2"]),
    sweep("ingest.binarize", ["false", "true"]),
    sweep("ingest.normalize", ["none", "row"]),
    beside("ingest.split.seed", ["1", "2"], &["ingest.split={train=0.5, validation=0.2, test=0.3}"]),
    beside("ingest.split.train", ["0.4", "0.5"], &["ingest.split={validation=0.2, test=0.3}"]),
    beside("ingest.split.validation", ["0.1", "0.2"], &["ingest.split={train=0.5, test=0.3}"]),
    beside("ingest.split.test", ["0.1", "0.2"], &["ingest.split={train=0.5, validation=0.3}"]),
    beside("ingest.split.stratified", ["false", "true"], &["ingest.split={train=0.5, validation=0.2, test=0.3}"]),
    beside("ingest.split.train_per_class", ["5", "8"], &["ingest.split={validation=20, test=30}"]),
    sweep("privatize.links.mechanism", ["blink", "rr"]),
    sweep("privatize.links.epsilon", ["5.0", "6.0"]),
    sweep("privatize.links.degree_fraction", ["0.1", "auto"]),
    sweep("privatize.links.degree_noise", ["laplace", "discrete-laplace"]),
    beside(
        "privatize.links.missing_share",
        ["0.0", "0.3"],
        &["estimate.missing_nodes=one-sided", "estimate.ridge=0.1"],
    ),
    beside("privatize.links.count_share", ["0.01", "0.5"], &["privatize.links.mechanism=lapgraph"]),
    beside("privatize.links.lying_share", ["0.0", "0.1"], &["estimate.ridge=0.1"]),
    beside(
        "privatize.links.lie",
        ["all-ones", "random-list"],
        &["privatize.links.lying_share=0.1", "estimate.ridge=0.1"],
    ),
    beside("privatize.links.nested", ["false", "true"], &["privatize.links.epsilon=[5.0, 6.0]"]),
    beside("privatize.links.triangle", ["strict", "published-code"], &["privatize.links.mechanism=symrr"]),
    beside("privatize.features.epsilon", ["1.0", "2.0"], &["privatize.features.mechanism=one-bit"]),
    beside("privatize.features.budget", ["per-feature", "per-node"], ONE_BIT),
    beside("privatize.features.message", ["features", "constant"], ONE_BIT),
    beside("privatize.features.clip", ["false", "true"], ONE_BIT),
    beside("privatize.features.coordinates", ["1", "2"], MULTI_BIT),
    beside("privatize.features.dp_delta", ["1e-6", "1e-5"], GAUSSIAN),
    beside("privatize.labels.epsilon", ["1.0", "2.0"], &["privatize.labels.mechanism=randomized-response"]),
    beside("estimate.features.hops", ["0", "2"], ONE_BIT),
    beside("estimate.features.aggregator", ["kprop", "hoa"], &["estimate.features.hops=2"]),
    beside("estimate.features.rescale", ["none", "root-mean-square"], ONE_BIT),
    beside("estimate.features.substitute", ["constant", "random"], &["privatize.features.mechanism=feature-free"]),
    beside("estimate.features.dimension", ["3", "4"], RANDOM),
    beside("similarity.classes", ["false", "true"], BEST),
    beside("similarity.share", ["0.1", "0.2"], BEST),
    beside("similarity.bins", ["score", "cosine"], BEST),
    beside("similarity.most_pairs", ["100", "1000"], BEST),
    sweep("estimate.method", ["published", "best"]),
    sweep("estimate.prior", ["beta-model", "beta-model+features"]),
    sweep("estimate.degrees", ["clipped", "empirical-bayes"]),
    sweep("estimate.match", ["false", "true"]),
    beside("estimate.centred_ridge", ["0.0", "1.0"], &["estimate.match=true"]),
    beside("estimate.learned_score", ["false", "true"], BEST),
    beside("estimate.triangles", ["false", "true"], &["estimate.match=true"]),
    sweep("estimate.solver", ["newton", "fixed-point-200"]),
    sweep("estimate.ridge", ["0.0", "0.5"]),
    sweep("estimate.missing_nodes", ["refuse", "one-sided"]),
    sweep("construct.variant", ["hard", "hybrid"]),
    sweep("construct.edge_multiple", ["1.0", "2.0"]),
    beside("construct.similarity", ["cosine", "score"], SIMILAR),
    beside("construct.neighbours", ["3", "5"], SIMILAR),
    beside("construct.edge_model", ["published-code", "chung-lu"], LDPGEN),
    sweep("train.model", ["gcn", "graphsage"]),
    sweep("train.model", ["gcn", "mlp"]),
    sweep("train.epochs", ["3", "4"]),
    sweep("train.patience", ["1", "2"]),
    sweep("train.layers", ["1", "2"]),
    sweep("train.hidden", ["4", "8"]),
    beside("train.sage_norm", ["clamp1", "paper"], SAGE),
    beside("train.gat_double_weight", ["false", "true"], &["train.model=gat"]),
    beside("train.min_epochs", ["0", "2"], &["train.patience=1"]),
    sweep("train.activation", ["relu", "selu"]),
    beside("train.heads", ["1", "2"], &["train.model=gat"]),
    beside("train.labels", ["plain", "forward"], LABELS),
    beside("train.label_hops", ["1", "2"], DROP),
    beside("train.blend", ["false", "true"], BEST),
    beside("train.beliefs", ["false", "true"], BEST),
    beside("train.task", ["classify", "beliefs"], BEST),
    beside("train.search", ["full", "racing"], &["train.learning_rate=[0.1, 0.08, 0.05, 0.02, 0.01]"]),
    beside("train.inductive", ["false", "true"], &["construct.variant=hard"]),
    beside("audit.targets", ["20", "30"], ATTACKED),
    beside("audit.described_by", ["answers", "answers-and-features"], SHADOWED),
    beside("audit.hops", ["0", "1"], SHADOWED),
    beside("audit.pool", ["all", "low"], ATTACKED),
    beside("audit.probe_scale", ["1e-4", "1e-2"], ATTACKED),
    beside("audit.direction", ["both", "one-way"], ATTACKED),
    beside("audit.output", ["logits", "probabilities"], ATTACKED),
    beside("audit.distance", ["cosine", "manhattan"], &["audit.targets=20", "audit.attacks=posterior-similarity"]),
    beside("train.links.learning_rate", ["1e-3", "1e-2"], SOLITUDE),
    beside("train.links.deviation", ["1e-3", "1e-2"], SOLITUDE),
    beside("train.links.sparsity", ["1e-3", "1e-2"], SOLITUDE),
];

/// Fields that a sweep cannot show on the tiny synthetic graph: they name files, lists of them are the grid to choose
/// from, the plan fills them in, or they belong to data or to a task that this graph does not have.
const OTHERS: &[&str] = &[
    "ingest.dataset",
    "ingest.format",
    "ingest.folder",
    "ingest.name",
    "ingest.archive",
    "ingest.edges",
    "ingest.nodes",
    "ingest.features",
    "ingest.labels",
    "ingest.header",
    "ingest.source_column",
    "ingest.target_column",
    "ingest.node_column",
    "ingest.label_column",
    "ingest.classes",
    "ingest.induced",
    "ingest.withhold_features",
    "ingest.withhold_labels",
    "ingest.declared_features",
    "ingest.declared_classes",
    "privatize.features.range",
    "privatize.features.dimension",
    "privatize.links.hold_out_links",
    "estimate.latent_blocks",
    "audit.canaries",
    "audit.canaries_of",
    "train.embedding",
    "train.check_every",
    "train.learning_rate",
    "train.weight_decay",
    "train.dropout",
    "train.initial_seed",
    "train.device",
];

/// The fields that `P` knows, as its own error message lists them.
fn fields_of<P: DeserializeOwned>(table: &str) -> Vec<String> {
    let unknown = Table::from_iter([("?".to_owned(), toml::Value::Boolean(true))]);
    let message = unknown.try_into::<P>().err().expect("an unknown field").message().to_owned();
    message.split('`').skip(1).step_by(2).filter(|name| *name != "?").map(|name| format!("{table}.{name}")).collect()
}

#[test]
fn the_list_of_sweeps_has_every_field_of_every_table() {
    let links = "privatize.links";
    let all = [
        fields_of::<veilgraph_ingest::Params>("ingest"),
        fields_of::<veilgraph_ingest::SyntheticParams>("ingest.synthetic"),
        fields_of::<veilgraph_ingest::Ratios>("ingest.split"),
        fields_of::<blink::Params>(links),
        fields_of::<dprr::Params>(links),
        fields_of::<rr::Params>(links),
        fields_of::<symrr::Params>(links),
        fields_of::<l_dpgcn::Params>(links),
        fields_of::<ldpgen::Params>(links),
        fields_of::<public::Params>(links),
        fields_of::<veilgraph_audit::LinkTellerParams>("audit"),
        fields_of::<veilgraph_audit::PosteriorSimilarityParams>("audit"),
        fields_of::<veilgraph_audit::PlantParams>("audit"),
        fields_of::<veilgraph_privatize::central::edgerand::Params>(links),
        fields_of::<veilgraph_privatize::central::lapgraph::Params>(links),
        fields_of::<CoordinateParams>("privatize.features"),
        fields_of::<multi_bit::Params>("privatize.features"),
        fields_of::<gaussian::Params>("privatize.features"),
        fields_of::<veilgraph_privatize::labels::Params>("privatize.labels"),
        fields_of::<veilgraph_graph::Propagation>("estimate.features"),
        fields_of::<SubstituteParams>("estimate.features"),
        fields_of::<veilgraph_similarity::Params>("similarity"),
        fields_of::<veilgraph_estimate::Params>("estimate"),
        fields_of::<veilgraph_construct::Params>("construct"),
        fields_of::<veilgraph_construct::CountsParams>("construct"),
        fields_of::<veilgraph_train::Params>("train"),
        fields_of::<veilgraph_train::LinkPredictionParams>("train"),
        fields_of::<veilgraph_train::LinkLearning>("train.links"),
    ];
    for field in all.concat() {
        let is_table = SWEEPS.iter().any(|sweep| sweep.field.starts_with(&format!("{field}.")));
        let is_known = SWEEPS.iter().any(|sweep| sweep.field == field) || OTHERS.contains(&field.as_str());
        assert!(is_table || is_known, "{field} is swept by no test");
    }
    for Sweep { field, .. } in SWEEPS {
        let is_tried = TABLES.iter().flat_map(|tables| *tables).any(|table| field.starts_with(table));
        assert!(is_tried, "{field} is tried by no test");
    }
}

/// Makes a test of each list of tables, so that the lists are tried side by side.
macro_rules! sweep_tests {
    ($($name:ident: $tables:expr,)*) => {
        const TABLES: &[&[&str]] = &[$($tables),*];
        $(
            #[test]
            fn $name() {
                swept_fields_are_found_in_the_rows($tables);
            }
        )*
    };
}

sweep_tests! {
    every_swept_field_of_ingest_is_found_in_the_rows: &["ingest."],
    every_swept_field_of_privatize_is_found_in_the_rows: &["privatize."],
    every_swept_field_up_to_construct_is_found_in_the_rows: &["similarity.", "estimate.", "construct."],
    every_swept_field_of_train_and_audit_is_found_in_the_rows: &["train.", "audit."],
}

/// Every field of these tables, one by one: both values have rows of their own with as many trials as the config, in
/// JSON, in the printed table, in CSV and in the figures.
fn swept_fields_are_found_in_the_rows(tables: &[&str]) {
    let of_tables = SWEEPS.iter().filter(|sweep| tables.iter().any(|table| sweep.field.starts_with(table)));
    for Sweep { field, values, beside } in of_tables {
        let is_mechanism = beside.iter().any(|set| set.starts_with("privatize.links.mechanism"));
        let text = TINY.replace("epochs = 20", "epochs = 3");
        let text = if is_mechanism { text.replace(BLINK_TABLES, "") } else { text };
        let lab = Lab::with("config.toml", text);
        let is_word = |value: &str| value.parse::<f64>().is_err() && value.parse::<bool>().is_err();
        let listed = values.map(|value| if is_word(value) { format!("{value:?}") } else { value.to_owned() });
        let set = format!("{field}=[{}]", listed.join(", "));
        let mut arguments: Vec<&str> = beside.iter().flat_map(|set| ["--set", *set]).collect();
        arguments.extend(["--set", &set]);
        let document = lab.json(&arguments);
        let own_column = ["privatize.links.mechanism", "privatize.links.epsilon", "construct.variant", "train.model"];
        let csv = fs::read_to_string(lab.path("artifacts/auditor/runs/tiny/scores.csv")).expect("scores");
        let header = csv.lines().next().expect("a header");
        assert!(own_column.contains(field) || header.split(',').any(|name| name == *field), "{field}: {header}");
        for value in values {
            let is_value = |found: &Value| {
                let found = found.as_str().unwrap_or_default();
                found == *value || found.parse::<f64>().ok().is_some_and(|found| value.parse::<f64>() == Ok(found))
            };
            let mine: Vec<&Value> =
                rows(&document["metrics"]).filter(|row| is_value(&row["choices"][*field])).collect();
            assert!(!mine.is_empty(), "{field} = {value} has no row in {:?}", document["metrics"][0]["choices"]);
            let trials: Vec<usize> = mine.iter().map(|row| row["values"].as_array().map_or(0, Vec::len)).collect();
            assert!(trials.iter().all(|&trials| trials <= 2) && trials.contains(&2), "{field} = {value}: {trials:?}");
        }
        let printed = lab.call(&[&["run", "config.toml"], &arguments[..]].concat());
        let name = field.rsplit('.').next().unwrap_or(field);
        let heading = match *field {
            "construct.variant" => "graph",
            "privatize.links.degree_fraction" => "fraction",
            _ => name,
        };
        assert!(printed.out.contains(&format!(" {heading} |")), "{field}: {}", printed.out);
        let report = lab.call(&[&["report", "config.toml"], &arguments[..]].concat());
        assert_eq!(report.status, 0, "{field}: {}", report.err);
        let figures = fs::read_dir(lab.path("artifacts/auditor/reports/tiny")).expect("figures");
        let figures = figures
            .map(|item| item.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "csv"));
        let figures: Vec<String> = figures.map(|path| fs::read_to_string(path).expect("text")).collect();
        figures.iter().for_each(|figure| lines_have_one_point_for_each_x(figure, field));
        let headers: Vec<&str> = figures.iter().map(|figure| figure.lines().next().unwrap_or_default()).collect();
        let is_shown =
            own_column.contains(field) || headers.iter().any(|header| header.split(',').any(|name| name == *field));
        assert!(is_shown, "{field} is in no figure: {headers:?}");
    }
}

/// Two points of a line at one place would be two things under one name.
fn lines_have_one_point_for_each_x(figure: &str, field: &str) {
    let mut reader = csv::Reader::from_reader(figure.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|column| column == name).expect(name);
    let columns = [at("line"), at("x")];
    let mut seen = std::collections::BTreeSet::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let place = columns.map(|column| row[column].to_owned());
        assert!(seen.insert(place.clone()), "{field}: the line `{}` has two points at {}", place[0], place[1]);
    }
}

/// Values that a mechanism does not read are no rows of their own: the same release is not counted twice.
#[test]
fn a_value_that_makes_no_difference_makes_no_trials() {
    let text = TINY.replace(BLINK_TABLES, "");
    let lab = Lab::with(
        "config.toml",
        text.replace(
            "epsilon = 6.0",
            "epsilon = 6.0\nmechanism = [\"blink\", \"symrr\"]\ntriangle = [\"strict\", \"published-code\"]",
        ),
    );
    let document = lab.json(&[]);
    let of = |mechanism: &str| -> Vec<&Value> {
        rows(&document["metrics"]).filter(|row| row["mechanism"] == mechanism && row["metric"] == "accuracy").collect()
    };
    assert_eq!(of("blink").len(), 1);
    assert_eq!(of("blink")[0]["values"].as_array().map(Vec::len), Some(2));
    let mut per_link: Vec<f64> = of("symrr").iter().map(|row| row["epsilon_edge"].as_f64().expect("nats")).collect();
    per_link.sort_by(f64::total_cmp);
    assert_eq!(per_link, [6.0, 12.0], "each triangle has its own cost");
    for row in of("symrr") {
        let edge = rows(&row["costs"]).find(|cost| cost["relation"] == "edge").expect("a cost per link");
        assert_eq!(edge["epsilon"], row["epsilon_edge"]);
    }
}

/// Figures as CSV keep all digits, also where there is one row.
#[test]
fn figures_as_csv_keep_their_digits() {
    let lab = Lab::tiny();
    let document = lab.json(&["--set", "trials=1"]);
    assert_eq!(lab.call(&["report", "config.toml", "--set", "trials=1"]).status, 0);
    let mae = rows(&document["metrics"]).find(|row| row["metric"] == "mae").expect("a score")["mean"].as_f64();
    let csv = fs::read_to_string(lab.path("artifacts/auditor/reports/tiny/synthetic-mae.csv")).expect("a figure");
    let mut lines = csv.lines();
    let at = lines.next().expect("a header").split(',').position(|name| name == "mean").expect("a column");
    let means: Vec<Option<f64>> =
        lines.map(|line| line.split(',').nth(at).and_then(|text| text.parse().ok())).collect();
    assert!(means.contains(&mae), "{mae:?} is not in {csv}");
    assert!(!csv.contains('"'), "no text needs quotes here: {csv}");
}
