use std::sync::Mutex;

use veilgraph_contract::Watcher;

use super::*;
use crate::Shape;

/// Two classes that one column tells apart.
fn data() -> (Vec<f32>, Samples) {
    let values: Vec<f32> =
        (0..200).flat_map(|row| [if row % 2 == 0 { 1.0 } else { -1.0 }, (row as f32).sin()]).collect();
    (values, Samples::of_rows((0..200).map(|row| (row, (row % 2) as u16))))
}

fn trained(noise_multiplier: f64, threads: usize) -> Network {
    trained_and_kept(noise_multiplier, threads, &Progress::none())
}

fn trained_and_kept(noise_multiplier: f64, threads: usize, progress: &Progress) -> Network {
    let (values, samples) = data();
    let inputs = Inputs::Dense { width: 2, values: &values };
    let rng = StageRng::new(1, "train", 0);
    let shape = Shape { inputs: 2, hidden: 8, classes: 2 };
    let mut network = Network::new(shape, 2.0, &mut rng.stream("weights", 0));
    let schedule = Schedule {
        sampling_rate: 0.2,
        steps: 100,
        learning_rate: 0.05,
        weight_decay: 0.0,
        dropout: 0.0,
        clip: 1.0,
        noise_multiplier,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let conduct = Conduct { rng: &rng, purpose: "test", validation: None, progress };
    let end = pool.install(|| train(&mut network, &inputs, &samples, &schedule, &conduct));
    end.expect("finite parameters");
    network
}

/// Keeps the last checkpoint, which is due after every step but none after the `last`th.
struct Keeper {
    last: u32,
    kept: Mutex<(u32, Option<Vec<u8>>)>,
}

impl Watcher for Keeper {
    fn report(&self, _: u64, _: u64) {}

    fn checkpoint(&self, _: &str) -> Option<Vec<u8>> {
        self.kept.lock().expect("one thread").1.clone()
    }

    fn checkpoint_is_due(&self, _: &str) -> bool {
        self.kept.lock().expect("one thread").0 < self.last
    }

    fn save_checkpoint(&self, _: &str, state: &[u8]) {
        let mut kept = self.kept.lock().expect("one thread");
        *kept = (kept.0 + 1, Some(state.to_vec()));
    }
}

#[test]
fn a_training_goes_on_from_its_checkpoint() {
    let keeper = Keeper { last: 37, kept: Mutex::new((0, None)) };
    let whole = trained_and_kept(1.0, 1, &Progress::new(&keeper));
    assert_eq!(whole, trained(1.0, 1), "keeping changes nothing");
    let state: State = postcard::from_bytes(&keeper.checkpoint("test").expect("kept")).expect("a state");
    assert_eq!(state.steps, 37);
    assert_eq!(trained_and_kept(1.0, 1, &Progress::new(&keeper)), whole, "as if nobody had killed it");
}

#[test]
fn two_classes_are_learned_with_and_without_noise() {
    let (values, samples) = data();
    let inputs = Inputs::Dense { width: 2, values: &values };
    for noise in [0.0, 1.0] {
        let loss = trained(noise, 1).loss(&inputs, &samples);
        assert!(loss < 0.1, "noise {noise}: {loss}");
    }
    // So much noise leaves nothing.
    assert!(trained(1000.0, 1).loss(&inputs, &samples) > 0.1);
}

#[test]
fn threads_change_no_byte() {
    assert_eq!(trained(1.0, 1), trained(1.0, 4));
}

#[test]
fn a_sample_moves_a_noisy_step_by_no_more_than_the_bound() {
    let (values, samples) = data();
    let inputs = Inputs::Dense { width: 2, values: &values };
    let network = trained(0.0, 1);
    for sample in 0..samples.len() {
        let mut gradient = vec![0.0; network.parameters.len()];
        let mut room = Workspace::default();
        network.add_clipped_gradient(&inputs, (&samples, sample), &[], 1e-3, &mut room, &mut gradient);
        let norm = gradient.iter().map(|entry| entry * entry).sum::<f32>().sqrt();
        assert!(norm <= 1e-3 * 1.0001, "{sample}: {norm}");
    }
}
