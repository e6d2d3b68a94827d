//! Milliseconds and memory of a curator's release of a large graph: `make bench`.
//!
//! Each case runs in a process of its own, so its peak memory is its own; that of the graph before is stated beside it.

#![expect(clippy::print_stdout, reason = "the table is the result")]

mod peak;

use std::process::Command;
use std::time::Instant;

use veilgraph_contract::{Private, Progress, Stage, StageRng};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::Epsilon;
use veilgraph_privatize::central::edgerand::{EdgeRand, Params as EdgeRandParams};
use veilgraph_privatize::central::lapgraph::{LapGraph, Params as LapGraphParams};

use peak::peak_mebibytes;

const REPEATS: usize = 5;
/// The sizes of the Facebook graph.
const NODES: u64 = 22_470;
const LINKS: usize = 170_823;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, marker, mechanism, epsilon] = arguments.as_slice()
        && marker == "--case"
    {
        return case(mechanism, Epsilon::try_from(epsilon.parse::<f64>().expect("a number")).expect("positive"));
    }
    println!("| mechanism | epsilon | links released | milliseconds | MiB before | peak MiB |");
    println!("|---|---:|---:|---:|---:|---:|");
    for mechanism in ["edgerand", "lapgraph"] {
        for epsilon in ["1", "4", "8"] {
            let row = Command::new(&arguments[0]).args(["--case", mechanism, epsilon]).output();
            let row = row.expect("this program again");
            print!("| {mechanism} | {epsilon} {}", String::from_utf8_lossy(&row.stdout));
            assert!(row.status.success(), "{}", String::from_utf8_lossy(&row.stderr));
        }
    }
}

/// Links between pairs without pattern.
fn graph() -> AdjacencyList {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % NODES) as u32
    };
    AdjacencyList::from_pairs(NODES as usize, (0..LINKS).map(|_| (next(), next()))).expect("nodes of the graph")
}

fn case(mechanism: &str, epsilon: Epsilon) {
    let links = graph();
    let before = peak_mebibytes();
    let (rng, silent) = (StageRng::new(1, "bench", 0), Progress::none());
    let mut times: Vec<f64> = Vec::new();
    let mut released = 0;
    for _ in 0..REPEATS {
        let (input, clock) = ((Private(links.clone()),), Instant::now());
        let (graph,) = if mechanism == "edgerand" {
            EdgeRand::run(input, &EdgeRandParams { epsilon }, &rng, &silent).expect("valid")
        } else {
            LapGraph::run(input, &LapGraphParams { epsilon, count_share: 0.01 }, &rng, &silent).expect("valid")
        };
        times.push(clock.elapsed().as_secs_f64() * 1e3);
        released = graph.n_entries() / 2;
    }
    times.sort_by(f64::total_cmp);
    let (median, least, most) = (times[REPEATS / 2], times[0], times[REPEATS - 1]);
    println!("| {released} | {median:.0} ({least:.0} to {most:.0}) | {before} | {} |", peak_mebibytes());
}
