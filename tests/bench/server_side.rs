//! Milliseconds of every step from reports to graphs, in memory: `make bench`.
//!
//! Real graphs are taken from `DATA_DIR`. Each case runs in a process of its own, so its peak memory is its own.

#![expect(clippy::print_stdout, reason = "the table is the result")]

mod peak;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use veilgraph_construct::{Construct, Variant};
use veilgraph_contract::{Artifact, Column, Facts, Invalid, Output, Private, Progress, Saver, Stage, StageRng, Stored};
use veilgraph_estimate::{Solver, fit, pair_claims};
use veilgraph_graph::AdjacencyList;
use veilgraph_posterior::{LinkModel, LogisticKernel, Posterior, sigmoid};
use veilgraph_privacy::{DegreeFraction, DegreeNoise, Epsilon};
use veilgraph_privatize::Local;
use veilgraph_privatize::links::Nested;
use veilgraph_privatize::links::blink::{Blink, Params as BlinkParams};
use veilgraph_store::read_table;

use peak::peak_mebibytes;

const REPEATS: usize = 5;
const STEPS: [&str; 7] = ["privatize", "pair", "fit", "hard", "hybrid", "MAE", "server side"];
const CASES: [(&str, &[f64]); 4] =
    [("cora", &[1.0, 4.0, 8.0]), ("lastfm", &[1.0, 4.0, 8.0]), ("facebook", &[1.0, 4.0, 8.0]), ("ego_twitter", &[8.0])];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, marker, links, epsilon] = arguments.as_slice()
        && marker == "--case"
    {
        return case(Path::new(links), epsilon.parse().expect("a number"));
    }
    let Some(data_dir) = std::env::var("DATA_DIR").ok().filter(|folder| !folder.is_empty()) else {
        println!("server_side: DATA_DIR is not set; nothing is timed");
        return;
    };
    println!("| graph | epsilon | {} | peak MiB |", STEPS.join(" | "));
    println!("|---|---:|{}---:|", "---:|".repeat(STEPS.len()));
    for (dataset, budgets) in CASES {
        let store = tempfile::tempdir().expect("a temporary folder");
        let links = ingested(dataset, &data_dir, store.path());
        for epsilon in budgets {
            let row = Command::new(&arguments[0]).args(["--case", &links, &epsilon.to_string()]).output();
            let row = row.expect("this program again");
            print!("| {dataset} | {epsilon} {}", String::from_utf8_lossy(&row.stdout));
            assert!(row.status.success(), "{}", String::from_utf8_lossy(&row.stderr));
        }
    }
}

/// Path of the links of a dataset, as the program ingests it.
fn ingested(dataset: &str, data_dir: &str, store: &Path) -> String {
    let config = store.join("config.toml");
    let text = format!("[ingest]\ndataset = \"{dataset}\"\n[privatize.links]\nepsilon = 1\n");
    std::fs::write(&config, text).expect("writable");
    let run = Command::new(env!("CARGO_BIN_EXE_veilgraph"))
        .args(["--quiet", "--store"])
        .arg(store)
        .arg("run")
        .arg(&config)
        .args(["--data-dir", data_dir, "--until", "ingest", "--json"])
        .output()
        .expect("the program runs");
    let document: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    document["stages"][0]["outputs"]["links"]["path"].as_str().expect("a path").to_owned()
}

/// Times one budget, fraction 0.1: median of the repeats.
fn case(links: &Path, epsilon: f64) {
    let Private(graph) = read_table::<Private<AdjacencyList>>(links).expect("ingested");
    let params = BlinkParams {
        epsilon: Epsilon::try_from(epsilon).expect("positive"),
        degree_fraction: DegreeFraction::try_from(0.1).expect("a share"),
        degree_noise: DegreeNoise::DiscreteLaplace,
        missing_share: 0.0,
        lying_share: 0.0,
        lie: None,
        nested: Nested::default(),
    };
    let mut rows: Vec<[f64; STEPS.len()]> = (0..REPEATS).map(|_| times(&graph, &params)).collect();
    for step in 0..STEPS.len() {
        rows.sort_by(|a, b| a[step].total_cmp(&b[step]));
        let (median, least, most) = (rows[REPEATS / 2][step], rows[0][step], rows[REPEATS - 1][step]);
        print!("| {median:.1} ({least:.1} to {most:.1}) ");
    }
    println!("| {} |", peak_mebibytes());
}

fn times(graph: &AdjacencyList, params: &BlinkParams) -> [f64; STEPS.len()] {
    let (rng, silent) = (StageRng::new(1, "bench", 0), Progress::none());
    let mut clock = Instant::now();
    let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64() * 1e3;
    let (reports, degrees) = Local::<Blink>::run((Private(graph.clone()),), params, &rng, &silent).expect("valid");
    // Drawn block by block and forgotten, as when they are written.
    reports.write(&mut Nowhere).expect("nothing is refused");
    let privatize = lap();
    let reports = reports.collect().expect("valid reports");
    lap();
    let evidence = pair_claims(reports).expect("valid reports");
    let pair = lap();
    let most = (graph.n_nodes() - 2) as f64;
    let used: Vec<f64> = degrees.degrees.iter().map(|degree| degree.clamp(1.0, most)).collect();
    let fitted = fit(&used, Solver::Newton, 0.0, &silent).expect("a fit exists");
    let fit = lap();
    let epsilon_links = params.budget().links;
    let model = LinkModel { degrees: used, beta: fitted.beta, epsilon_links, ..LinkModel::default() };
    let mut build = |variant| {
        let inputs = (model.clone(), Stored::held(evidence.clone()));
        let construct = veilgraph_construct::Params { variant, edge_multiple: 1.0 };
        let graph = Construct::run(inputs, &construct, &rng, &silent).expect("valid").0;
        assert!(graph.n_entries() > 0);
        lap()
    };
    let (hard, hybrid) = (build(Variant::Hard), build(Variant::Hybrid));
    let posterior = Posterior::new(&model, evidence).expect("same size");
    let logit = |(i, j)| posterior.logit(i, j, posterior.evidence().known(i, j));
    let corrections: f64 = graph.links().map(|link| 1.0 - 2.0 * sigmoid(logit(link))).sum();
    assert!(posterior.pair_sum(LogisticKernel::Logistic) + corrections > 0.0);
    let error = lap();
    [privatize, pair, fit, hard, hybrid, error, pair + fit + hard + hybrid + error]
}

/// Takes artifacts and keeps nothing.
struct Nowhere;

impl Saver for Nowhere {
    type Error = Invalid;

    fn save<A: Artifact>(
        &mut self,
        _: &Facts,
        blocks: &mut dyn Iterator<Item = Vec<Column>>,
        _: Option<Vec<u8>>,
    ) -> Result<(), Invalid> {
        assert!(blocks.flatten().map(|column| column.len()).sum::<usize>() > 0);
        Ok(())
    }
}
