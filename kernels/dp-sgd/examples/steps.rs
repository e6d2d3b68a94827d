//! Milliseconds for one private step: `steps NODES FEATURES ENTRIES HIDDEN CLASSES RATE STEPS`.

#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::io::{Write, stdout};
use std::time::Instant;

use rand::RngExt;
use veilgraph_contract::{Progress, StageRng};
use veilgraph_dp_sgd::{Conduct, Inputs, Network, Samples, Schedule, Shape, train};
use veilgraph_graph::SparseMatrix;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<f64> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [nodes, features, entries, hidden, classes, sampling_rate, steps] = numbers[..] else {
        return Err("usage: steps NODES FEATURES ENTRIES HIDDEN CLASSES RATE STEPS".into());
    };
    let rng = StageRng::new(1, "bench", 0);
    let mut words = rng.fast_stream("rows", 0);
    let row = |_| {
        let mut columns: Vec<u32> = (0..entries as u32).map(|_| words.random_range(0..features as u32)).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.into_iter().map(|column| (column, 1.0_f32)).collect()
    };
    let matrix = SparseMatrix::from_rows(features as usize, (0..nodes as usize).map(row).collect::<Vec<_>>())?;
    let inputs = Inputs::Sparse(&matrix);
    let samples = Samples::of_rows((0..nodes as u32).map(|node| (node, (node % classes as u32) as u16)));
    let shape = Shape { inputs: features as usize, hidden: hidden as usize, classes: classes as usize };
    let mut network = Network::new(shape, entries as f32, &mut rng.fast_stream("weights", 0));
    let schedule = Schedule {
        sampling_rate,
        steps: steps as u32,
        learning_rate: 1e-3,
        weight_decay: 0.0,
        dropout: 0.0,
        clip: 1.0,
        noise_multiplier: 1.0,
    };
    let start = Instant::now();
    let conduct = Conduct { rng: &rng, purpose: "bench", validation: None, progress: &Progress::none() };
    train(&mut network, &inputs, &samples, &schedule, &conduct)?;
    writeln!(stdout(), "{}", 1e3 * start.elapsed().as_secs_f64() / steps)?;
    Ok(())
}
