//! A race among the models of a grid: a model that is no longer expected to win stops before its last epoch.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use burn::backend::Flex;
use veilgraph_contract::{Progress, StageRng};

use crate::batch::{Batch, Snapshot};
use crate::dataset::Dataset;
use crate::device::Device;
use crate::failure::Failure;
use crate::grid::{EpochRecord, Grid, Schedule, Setting, Trained};
use crate::network::Network;
use crate::training::{checkpoint_name, on_threads, train};

/// The models are compared after each sixth of the epochs but the last.
const LAPS: usize = 6;

/// So many models with the lowest losses go on, whatever their pace.
const FEWEST: usize = 4;

/// How far above the lowest loss a model may be expected to end, as a share of that loss, and still go on: settings are
/// chosen by their mean over trials, and the best of one trial need not be the best of all.
const MARGIN: f64 = 0.05;

/// What comes of a race.
#[derive(Debug)]
pub struct Raced {
    /// One result for each setting. A model that was dropped has the epochs until then, bit for bit those that [`train`]
    /// gives it.
    pub models: Vec<Result<Trained, Failure>>,
    /// Positions of the models that were dropped, in ascending order.
    pub dropped: Vec<usize>,
}

/// Trains the models of a grid as [`train`] does, and drops those that are no longer expected to win.
///
/// After each sixth of the epochs, the lowest validation loss of a model so far is extended to the last epoch at the pace of
/// the last quarter of the epochs that are done. As a rule, a loss falls more slowly the longer a model trains, so this is a
/// low guess at what the model can still reach. Where even this is more than 5 % above the lowest loss of all models, the model is
/// dropped. The four models with the lowest losses always go on.
///
/// On a GPU, and where links are learned, nothing is dropped: a GPU trains all models at once, and learned links are no state
/// that can be put aside.
///
/// # Source
/// Maron, Moore (1994), Hoeffding races, for dropping what cannot win; Domhan, Springenberg, Hutter (2015), Speeding up
/// automatic hyperparameter optimization of deep neural networks by extrapolation of learning curves, for judging by what a
/// curve may still reach. The numbers are ours.
#[must_use]
pub fn race(
    dataset: &Dataset,
    settings: &[Setting],
    schedule: Schedule,
    device: Device,
    rng: &StageRng,
    progress: &Progress,
) -> Raced {
    if device != Device::Cpu || dataset.learns_links() {
        return Raced { models: train(dataset, settings, schedule, device, rng, progress), dropped: Vec::new() };
    }
    let grid = Grid::new(dataset, settings, schedule, rng, progress);
    let network = Network::<Flex>::new(&dataset.input, &Default::default());
    let mut states: Vec<Option<Snapshot>> = settings.iter().map(|_| None).collect();
    let (mut running, mut dropped): (Vec<usize>, Vec<usize>) = ((0..settings.len()).collect(), Vec::new());
    for epochs in (1..LAPS).map(|lap| schedule.epochs * lap / LAPS).filter(|&epochs| epochs > 0) {
        let paused = on_threads(running.len(), |at| {
            let model = running[at];
            let batch = grid.one(model, states[model].clone());
            grid.trained_until(batch, model, &network, epochs).snapshot()
        });
        for (&model, state) in running.iter().zip(paused) {
            states[model] = Some(state);
        }
        let left = schedule.epochs - epochs;
        let (in_race, lost) = after_lap(&states, &running, &dropped, epochs, left);
        grid.done.fetch_add((lost.len() * left) as u64, Ordering::Relaxed);
        running = in_race;
        dropped.extend(lost);
    }
    dropped.sort_unstable();
    // Each state goes as soon as its model goes on, so that states and results are never held all at once.
    let states: Vec<Mutex<Option<Snapshot>>> = states.into_iter().map(Mutex::new).collect();
    let models = on_threads(settings.len(), |model| {
        let state = states[model].lock().unwrap_or_else(PoisonError::into_inner).take();
        let batch = grid.one(model, state);
        let epochs = if dropped.contains(&model) { 0 } else { schedule.epochs };
        grid.trained_until(batch, model, &network, epochs).finish(&network).remove(0)
    });
    Raced { models, dropped }
}

impl<'a> Grid<'a> {
    /// One model as `state` has it, or else at its beginning or its checkpoint.
    fn one(&self, model: usize, state: Option<Snapshot>) -> Batch<'a, Flex> {
        let settings = &self.settings[model..=model];
        match state {
            Some(state) => Batch::<Flex>::resume(self, settings, state, &Default::default()),
            None => self.begin::<Flex>(&checkpoint_name(model, 1), settings, &Default::default()),
        }
    }

    /// The same model with so many epochs, or with those after which it stopped.
    fn trained_until<'b>(
        &self,
        mut batch: Batch<'b, Flex>,
        model: usize,
        network: &Network<Flex>,
        epochs: usize,
    ) -> Batch<'b, Flex> {
        self.advance(&mut batch, &checkpoint_name(model, 1), network, epochs);
        batch
    }
}

/// Where a model stands when so many epochs are done.
struct Standing {
    model: usize,
    /// Lowest validation loss so far.
    loss: f64,
    /// The loss at the last epoch, if it went on falling as it does now.
    reachable: f64,
    has_stopped: bool,
}

impl Standing {
    /// After `epochs` of a curve, which may be longer, with `left` epochs to go.
    fn of(model: usize, curve: &[EpochRecord], has_stopped: bool, epochs: usize, left: usize) -> Self {
        let lowest =
            |until: usize| curve.iter().take(until).map(|record| record.validation_loss).fold(f64::INFINITY, f64::min);
        let window = epochs.div_ceil(4);
        // Before the first epoch the loss is infinite, and so is the pace: such a model goes on.
        let (before, loss) = (lowest(epochs - window), lowest(epochs));
        let pace = (before - loss) / window as f64;
        Self { model, loss, reachable: loss - pace * left as f64, has_stopped }
    }
}

/// The models that go on and those that are dropped when so many epochs are done, both in ascending order. `running` are those
/// that trained until now, and `dropped` those that were dropped before.
///
/// A checkpoint may have left a state at a later epoch: only what was known after `epochs` counts, so that a race that was
/// interrupted ends as any other.
fn after_lap(
    states: &[Option<Snapshot>],
    running: &[usize],
    dropped: &[usize],
    epochs: usize,
    left: usize,
) -> (Vec<usize>, Vec<usize>) {
    let known = states.iter().enumerate().filter(|(model, _)| !dropped.contains(model));
    let standings = known.filter_map(|(model, state)| {
        let history = state.as_ref()?.models.first()?;
        let has_stopped = history.had_stopped_by(epochs);
        let has_failed = has_stopped && history.best().is_err();
        (!has_failed).then(|| Standing::of(model, &history.curve, has_stopped, epochs, left))
    });
    let standings: Vec<Standing> = standings.collect();
    let lowest = standings.iter().map(|standing| standing.loss).fold(f64::INFINITY, f64::min);
    let mut ranked: Vec<&Standing> =
        standings.iter().filter(|standing| !standing.has_stopped && running.contains(&standing.model)).collect();
    ranked.sort_by(|a, b| a.loss.total_cmp(&b.loss).then(a.model.cmp(&b.model)));
    let (mut in_race, mut lost) = (Vec::new(), Vec::new());
    for (rank, standing) in ranked.into_iter().enumerate() {
        let may_win = rank < FEWEST || standing.reachable <= lowest * (1.0 + MARGIN);
        let side: &mut Vec<usize> = if may_win { &mut in_race } else { &mut lost };
        side.push(standing.model);
    }
    in_race.sort_unstable();
    lost.sort_unstable();
    (in_race, lost)
}

#[cfg(test)]
mod tests;
