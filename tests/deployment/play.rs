//! The play: nodes report, a server collects and learns, an auditor scores.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;
use veilgraph_contract::{HeldOut, Private};
use veilgraph_graph::{AdjacencyList, Features, Labels, Nodes, Split};
use veilgraph_store::read_table;

use crate::people::{Person, may_become_others};
use crate::say;
use crate::support::{Lab, data_dir, rows};

/// The world as it is, which nobody but this test knows as a whole.
struct World {
    lab: Lab,
    links: AdjacencyList,
    nodes: String,
    features: String,
    known_labels: String,
    all_labels: String,
    known_split: String,
    whole_split: String,
}

/// What all configs of the play have in common.
const STAGES: &str = "[privatize.links]\nepsilon = 4.0\ndegree_fraction = 0.1\n\
                      [estimate]\nmethod = \"published\"\nmissing_nodes = \"one-sided\"\n[construct]\nvariant = \"hybrid\"\n\
                      [train]\nepochs = 100\nlearning_rate = 0.05\nhidden = 16\n";

const DEPLOYMENT: &str = "name = \"play\"\n[privacy]\nrandomness = \"os\"\npopulation = \"papers\"\nbudget = 4.0\n";

/// Nodes of which no report arrives, or a bad one.
const SILENT: [u32; 7] = [11, 22, 33, 44, 55, 66, 77];

impl World {
    fn new() -> Self {
        let synthetic = "[ingest]\ndataset = \"synthetic\"\n[ingest.synthetic]\nnodes = 600\nclasses = 3\nmean_degree = 6\n\
                         features = 60\nwords = 8\n";
        let data = data_dir("the deployment of Cora (a synthetic graph takes its place)");
        let source = if data.is_some() { "[ingest]\ndataset = \"cora\"\n" } else { synthetic };
        let lab = Lab::with("world.toml", format!("name = \"world\"\n{source}{STAGES}"));
        let mut arguments = vec!["--quiet", "run", "world.toml", "--until", "ingest"];
        let data = data.map(|folder| fs::canonicalize(folder).expect("there").to_string_lossy().into_owned());
        if let Some(folder) = &data {
            arguments.extend(["--data-dir", folder]);
        }
        let answer = lab.call(&arguments);
        assert_eq!(answer.status, 0, "{}", answer.err);
        let file = |part: &str, name: &str| lab.path(&format!("artifacts/{part}/runs/world/ingest/all/{name}.parquet"));
        let Private(links) = read_table::<Private<AdjacencyList>>(&file("owner", "links")).expect("links");
        let nodes: Nodes = read_table(&file("simulation", "nodes")).expect("nodes");
        let Features(matrix) = read_table(&file("simulation", "features")).expect("features");
        let known: Labels = read_table(&file("simulation", "labels")).expect("labels");
        let HeldOut(test) = read_table::<HeldOut<Labels>>(&file("auditor", "held_out_labels")).expect("labels");
        let n_nodes = links.n_nodes() as u32;
        let mut features = "node,feature,value\n".to_owned();
        for node in 0..n_nodes {
            let (columns, values) = matrix.row(node as usize);
            for (column, value) in columns.iter().zip(values) {
                writeln!(features, "{node},{column},{value}").expect("text");
            }
        }
        let in_words = |labels: &Labels| -> String {
            labels.classes().iter().map(|(node, class)| format!("{node},{class}\n")).collect()
        };
        let split = |is_test_known: bool| -> String {
            let name = |split: Split| match split {
                Split::Train => "train",
                Split::Validation => "validation",
                Split::Test if is_test_known => "test",
                _ => "none",
            };
            (0..n_nodes).map(|node| format!("{node},{}\n", name(nodes.splits[node as usize]))).collect()
        };
        Self {
            nodes: (0..n_nodes).map(|node| format!("{node}\n")).collect(),
            features,
            known_labels: in_words(&known),
            all_labels: in_words(&known) + &in_words(&test),
            known_split: split(false),
            whole_split: split(true),
            links,
            lab,
        }
    }

    fn n_nodes(&self) -> u32 {
        self.links.n_nodes() as u32
    }

    /// What everybody may know, for somebody who serves.
    fn tell_public(&self, person: &Person) {
        person.is_given("nodes.csv", &self.nodes);
        person.is_given("features.csv", &self.features);
        person.is_given("labels.csv", &self.known_labels);
        person.is_given("split.csv", &self.known_split);
    }

    fn edges(&self) -> String {
        self.links.links().map(|(a, b)| format!("{a},{b}\n")).collect()
    }
}

fn ingest(files: &str) -> String {
    format!(
        "[ingest]\nnodes = \"nodes.csv\"\n{files}features = \"features.csv\"\nlabels = \"labels.csv\"\n\
             normalize = \"none\"\nsplit = \"split.csv\"\n"
    )
}

/// Programs that everybody may start.
struct Programs {
    veilgraph: PathBuf,
    client: PathBuf,
}

impl Programs {
    fn new(folder: &Path) -> Self {
        let built = Path::new(env!("CARGO_BIN_EXE_veilgraph"));
        let client = built.with_file_name("veilgraph-client");
        assert!(client.is_file(), "{}: build it with `cargo build --release -p veilgraph-client`", client.display());
        let programs = Self { veilgraph: folder.join("veilgraph"), client: folder.join("veilgraph-client") };
        fs::copy(built, &programs.veilgraph).expect("copied");
        fs::copy(client, &programs.client).expect("copied");
        programs
    }
}

/// The server with its config and all that is public, and the parameters that it publishes.
fn server_asks(world: &World, programs: &Programs, stage: &Path) -> (Person, String) {
    let server = Person::new(stage.join("server"), 10_001);
    world.tell_public(&server);
    server.is_given("config.toml", format!("{DEPLOYMENT}{}{STAGES}", ingest("")));
    server.does(&programs.veilgraph, &["parameters", "config.toml", "--to", "parameters.toml"]);
    let parameters = fs::read_to_string(server.path("parameters.toml")).expect("parameters");
    (server, parameters)
}

/// One process for each node, each with a folder and a user of its own; the bytes of their reports.
fn report(world: &World, programs: &Programs, folder: &Path, parameters: &str, more: &[&str]) -> Vec<Vec<u8>> {
    let next = AtomicUsize::new(0);
    let reports: Vec<std::sync::OnceLock<Vec<u8>>> = (0..world.n_nodes()).map(|_| std::sync::OnceLock::new()).collect();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let node = next.fetch_add(1, Ordering::Relaxed);
                    let Some(place) = reports.get(node) else { return };
                    let person = Person::new(folder.join(format!("node-{node}")), 20_000 + node as u32);
                    let list = world.links.neighbours(node).iter().map(|other| format!("{other}\n"));
                    person.is_given("links.txt", list.collect::<String>());
                    person.is_given("parameters.toml", parameters);
                    let number = node.to_string();
                    let arguments =
                        ["report", "--parameters", "parameters.toml", "--node", &number, "--links", "links.txt"];
                    let places = ["--state", "state", "--to", "report.vgr"];
                    person.does(&programs.client, &[&arguments[..], &places, more].concat());
                    place.set(fs::read(person.path("report.vgr")).expect("a report")).expect("once");
                }
            });
        }
    });
    reports.into_iter().map(|report| report.into_inner().expect("a report")).collect()
}

/// The post: whatever anybody sends lands in the server's inbox.
fn send(server: &Person, name: &str, bytes: &[u8]) {
    fs::create_dir_all(server.path("inbox")).expect("an inbox");
    server.is_given(&format!("inbox/{name}.vgr"), bytes);
}

/// Reports from a seed, through every step that real ones take, are those of the simulation, byte for byte.
#[test]
#[ignore = "minutes: make test-deployment"]
fn at_equal_noise_the_graph_is_that_of_the_simulation() {
    let world = World::new();
    let stage = tempfile::tempdir().expect("a folder");
    open(stage.path());
    let programs = Programs::new(stage.path());
    // The simulation, on one machine that knows everything.
    let lab = &world.lab;
    let simulated = format!("name = \"play\"\nreferences = []\n{}{STAGES}", ingest("edges = \"edges.csv\"\n"));
    for (name, text) in [
        ("config.toml", &simulated),
        ("nodes.csv", &world.nodes),
        ("features.csv", &world.features),
        ("labels.csv", &world.all_labels),
        ("split.csv", &world.whole_split),
        ("edges.csv", &world.edges()),
    ] {
        lab.write(name, text);
    }
    let whole = lab.json(&["--until", "train"]);
    // The same with real processes.
    let (server, parameters) = server_asks(&world, &programs, stage.path());
    let seeded = ["--simulate-seed", "42", "--trial", "0"];
    let reports = report(&world, &programs, &stage.path().join("nodes"), &parameters, &seeded);
    for (node, bytes) in reports.iter().enumerate() {
        send(&server, &format!("{node:05}"), bytes);
    }
    let refused = server.calls(&programs.veilgraph, &["collect", "inbox", "config.toml", "--to", "store"]);
    assert!(refused.status == 1 && refused.err.contains("comes from a seed"), "{}", refused.err);
    server.does(&programs.veilgraph, &["collect", "inbox", "config.toml", "--to", "store", "--simulated"]);
    let serve = ["--store", "store", "run", "config.toml", "--side", "server", "--until", "train", "--json"];
    let refused = server.calls(&programs.veilgraph, &serve);
    assert!(refused.status == 1 && refused.err.contains("not deployable"), "{}", refused.err);
    let answer = server.does(&programs.veilgraph, &[&serve[..], &["--simulation"]].concat());
    let served: Value = serde_json::from_str(&answer.out).expect("JSON");
    let digest = |document: &Value, artifact: &str| -> String {
        let mut all = rows(&document["stages"]).map(|row| &row["outputs"][artifact]["digest"]);
        all.find(|digest| digest.is_string()).expect(artifact).to_string()
    };
    for artifact in ["noisy_links", "noisy_degrees", "link_evidence", "link_model", "graph", "predictions"] {
        assert_eq!(digest(&served, artifact), digest(&whole, artifact), "{artifact}");
    }
    say(&format!("{} client processes: reports, graph and predictions are those of the simulation", reports.len()));
}

/// Real noise, bad reports, silent nodes: the server learns, the auditor scores, and nobody sees more than is due.
#[test]
#[ignore = "minutes: make test-deployment"]
fn real_nodes_a_server_and_an_auditor() {
    let world = World::new();
    let stage = tempfile::tempdir().expect("a folder");
    open(stage.path());
    let programs = Programs::new(stage.path());
    let (server, parameters) = server_asks(&world, &programs, stage.path());
    let nodes = stage.path().join("nodes");
    let start = Instant::now();
    let reports = report(&world, &programs, &nodes, &parameters, &["--budget", "4"]);
    say(&format!("{} client processes: {:.1} s", reports.len(), start.elapsed().as_secs_f64()));
    asked_again(&world, &programs, &nodes, &reports);
    if may_become_others() {
        let node = nodes.join("node-0/links.txt");
        let peeked = server.calls(Path::new("/bin/cat"), &[&node.to_string_lossy()]);
        assert!(peeked.status != 0 && peeked.out.is_empty(), "the server read the list of a node");
    } else {
        say("skipped: only root can give every node a user of its own, so all processes were of one user");
    }
    let entropy = bytes_beside_their_bound(&reports);
    say(&entropy);
    // The post loses and damages some, and strangers write too.
    for (node, bytes) in reports.iter().enumerate().filter(|(node, _)| !SILENT.contains(&(*node as u32))) {
        send(&server, &format!("{node:05}"), bytes);
    }
    let of = |node: u32| reports[node as usize].clone();
    // Far enough behind the number of the node to be known as its report, however short its list is.
    send(&server, "truncated", &of(11)[..of(11).len() - 4]);
    let mut flipped = of(22);
    // The last byte of the body: the node's number stands at the beginning, the checksum in the last 8 bytes.
    let at = flipped.len() - 9;
    flipped[at] ^= 1;
    send(&server, "flipped", &flipped);
    let other = parameters.replace("release = 1", "release = 2");
    assert_ne!(other, parameters);
    let replayed = one_report(&world, &programs, &stage.path().join("replayed"), 33, &other);
    send(&server, "replayed", &replayed);
    let foreign = parameters.replace("papers", "strangers");
    send(&server, "foreign", &one_report(&world, &programs, &stage.path().join("foreign"), 44, &foreign));
    // Whoever forges a report of a node that reports too silences it, and is seen.
    let forged = one_report(&world, &programs, &stage.path().join("forged"), 55, &parameters);
    send(&server, "forged", &forged);
    send(&server, "00055", &of(55));
    send(&server, "again", &of(0));
    send(&server, "noise", b"no report");
    let start = Instant::now();
    let collected = server.does(&programs.veilgraph, &["collect", "inbox", "config.toml", "--to", "store"]);
    say(&format!("collect: {:.1} s", start.elapsed().as_secs_f64()));
    for (file, why) in [
        ("truncated", "11"),
        ("flipped", "22"),
        ("replayed", "33"),
        ("foreign", "44"),
        ("forged", "both are left out"),
        ("00055", "both are left out"),
        ("again", "the same report"),
        ("noise", "no report"),
    ] {
        let line = collected.err.lines().find(|line| line.contains(&format!("{file}.vgr"))).unwrap_or_default();
        assert!(line.contains("left out") && line.contains(why), "{file}: {line} in {}", collected.err);
    }
    assert!(collected.out.contains("missing nodes: 7; files left out: 8"), "{}", collected.out);
    assert!(collected.out.contains("the server has learned"), "{}", collected.out);
    server.does(
        &programs.veilgraph,
        &["--quiet", "--store", "store", "run", "config.toml", "--side", "server", "--until", "train"],
    );
    audit(&world, &programs, stage.path(), &server);
}

/// The auditor knows the truth, is handed the server's folder, and scores it.
fn audit(world: &World, programs: &Programs, stage: &Path, server: &Person) {
    let auditor = Person::new(stage.join("auditor"), 10_002);
    auditor.is_given("nodes.csv", &world.nodes);
    auditor.is_given("features.csv", &world.features);
    auditor.is_given("labels.csv", &world.all_labels);
    auditor.is_given("split.csv", &world.whole_split);
    auditor.is_given("edges.csv", world.edges());
    let scores = "[evaluate]\nmetrics = [\"accuracy\", \"link-error\", \"density\"]\n";
    auditor.is_given("config.toml", format!("{DEPLOYMENT}{}{STAGES}{scores}", ingest("edges = \"edges.csv\"\n")));
    fs::create_dir(auditor.path("artifacts")).expect("a folder");
    auditor.is_handed(&server.path("store"), "artifacts/server");
    own_folder(&auditor, "artifacts");
    let answer = auditor.does(&programs.veilgraph, &["run", "config.toml", "--side", "auditor", "--json"]);
    let deployed: Value = serde_json::from_str(&answer.out).expect("JSON");
    let simulated = simulated_scores(world);
    for metric in ["accuracy", "mae"] {
        let (deployed, simulated) = (mean(&deployed, metric), mean(&simulated, metric));
        let (value, spread) = (deployed[0], deviation(&simulated));
        let expected = simulated.iter().sum::<f64>() / simulated.len() as f64;
        say(&format!("{metric}: {value:.4} in the deployment, {expected:.4} ± {spread:.4} in ten simulations"));
        // One new value lies this far from the mean of ten others in one of 10,000 cases (Student's t, 9 degrees of
        // freedom, 6.0), where noise alone tells them apart; the missing nodes cost less than that.
        assert!((value - expected).abs() < 6.0 * (1.1_f64.sqrt()) * spread.max(expected / 200.0), "{metric}");
    }
}

/// Ten simulations of the same config, with the truth at hand.
fn simulated_scores(world: &World) -> Value {
    let lab = &world.lab;
    for (name, text) in [
        ("nodes.csv", &world.nodes),
        ("features.csv", &world.features),
        ("labels.csv", &world.all_labels),
        ("split.csv", &world.whole_split),
        ("edges.csv", &world.edges()),
    ] {
        lab.write(name, text);
    }
    lab.write(
        "config.toml",
        format!("name = \"again\"\ntrials = 10\nreferences = []\n{}{STAGES}", ingest("edges = \"edges.csv\"\n")),
    );
    lab.json(&[])
}

fn mean(document: &Value, metric: &str) -> Vec<f64> {
    let mut row = rows(&document["metrics"]).filter(|row| row["metric"] == metric);
    let values = &row.next().unwrap_or_else(|| panic!("no {metric}"))["values"];
    rows(values).filter_map(Value::as_f64).collect()
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// A second call gives the same bytes; a changed list is refused.
fn asked_again(world: &World, programs: &Programs, nodes: &Path, reports: &[Vec<u8>]) {
    for node in (0..world.n_nodes()).step_by(100) {
        let person = Person::new(nodes.join(format!("node-{node}")), 20_000 + node);
        let number = node.to_string();
        let ask = |links: &str, to: &str, more: &[&str]| {
            let arguments = ["report", "--parameters", "parameters.toml", "--node", &number, "--links", links];
            let places = ["--state", "state", "--to", to, "--budget", "4"];
            person.calls(&programs.client, &[&arguments[..], &places, more].concat())
        };
        assert_eq!(ask("links.txt", "again.vgr", &[]).status, 0);
        assert_eq!(fs::read(person.path("again.vgr")).expect("a report"), reports[node as usize]);
        let stranger = (0..world.n_nodes()).find(|&other| other != node && !world.links.contains(node as usize, other));
        let list = fs::read_to_string(person.path("links.txt")).expect("a list");
        person.is_given("changed.txt", format!("{list}{}\n", stranger.expect("somebody")));
        let refused = ask("changed.txt", "changed.vgr", &[]);
        assert!(refused.status == 1 && refused.err.contains("--spend"), "{}", refused.err);
        let overspent = ask("changed.txt", "changed.vgr", &["--spend"]);
        assert!(overspent.status == 1 && !person.path("changed.vgr").exists(), "{}", overspent.err);
    }
}

/// The report of one node that has reported to nobody before.
fn one_report(world: &World, programs: &Programs, folder: &Path, node: u32, parameters: &str) -> Vec<u8> {
    let person = Person::new(folder.to_owned(), 30_000);
    let list = world.links.neighbours(node as usize).iter().map(|other| format!("{other}\n"));
    person.is_given("links.txt", list.collect::<String>());
    person.is_given("parameters.toml", parameters);
    let number = node.to_string();
    let arguments = ["report", "--parameters", "parameters.toml", "--node", &number, "--links", "links.txt"];
    person.does(&programs.client, &[&arguments[..], &["--state", "state", "--to", "r.vgr", "--budget", "4"]].concat());
    fs::read(person.path("r.vgr")).expect("a report")
}

fn bytes_beside_their_bound(reports: &[Vec<u8>]) -> String {
    let mean = reports.iter().map(Vec::len).sum::<usize>() as f64 / reports.len() as f64;
    // H(p) of the flips at 3.6 nats.
    let flip = 1.0 / (1.0 + 3.6_f64.exp());
    let bits = -flip * flip.log2() - (1.0 - flip) * (1.0 - flip).log2();
    let bound = reports.len() as f64 * bits / 8.0;
    assert!(mean < 1.15 * bound + 48.0, "{mean} bytes beside a bound of {bound}");
    format!("a report has {mean:.1} bytes, the entropy of its flips alone {bound:.1}")
}

/// Lets every user pass through a folder.
fn open(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("opened");
    fs::create_dir_all(folder.join("nodes")).expect("a folder");
}

fn own_folder(person: &Person, name: &str) {
    let inside = person.path(name);
    let away = person.path("moved");
    // Copying gives the copy to the person.
    person.is_handed(&inside, "moved");
    fs::remove_dir_all(&inside).expect("removed");
    fs::rename(away, &inside).expect("renamed");
}
