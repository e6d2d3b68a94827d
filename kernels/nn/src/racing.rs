//! A race among the models of a grid: a model that is no longer expected to win stops before its last epoch.

use burn::backend::Flex;
use veilgraph_contract::{Progress, StageRng};

use crate::dataset::Dataset;
use crate::device::Device;
use crate::failure::Failure;
use crate::grid::{EpochRecord, Grid, Schedule, Setting, Trained};
use crate::network::Network;
use crate::training::{checkpoint_name, train};

/// Models of the first heat, which train to the end. So in a grid of no more than these nothing is ever dropped.
pub const FIRST_HEAT: usize = 4;

/// A model is judged after each twelfth of the epochs but the last.
const LAPS: usize = 12;

/// A pace is measured over so many epochs at least: the loss of a single epoch may rise by chance.
const LEAST_WINDOW: usize = 4;

/// How far above the lowest loss a model may be expected to end, as a share of that loss, and still go on: settings are
/// chosen by their mean over trials, and the best of one trial need not be the best of all.
const MARGIN: f64 = 0.05;

/// The least margin, in nats: where losses come close to zero, a share of them says nothing.
const LEAST_MARGIN: f64 = 0.01;

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
/// Models run in heats: the first one has [`FIRST_HEAT`] models from all over the grid, which train to the end, and every
/// later one has twice as many as the one before it; the last one has what is left. After each twelfth of the epochs, the
/// lowest validation loss of a model so far is extended to the last epoch at the pace of the last third of the epochs that are
/// done. A model is not judged before this third has four epochs. As a rule, a loss falls more slowly the longer a model
/// trains, so this is a low guess at what the model can still reach. Where even this is above the lowest loss of earlier heats
/// by more than 5 % of that loss and by more than 0.01 nats, the model is dropped. Models are never judged by others of their
/// own heat, so the number of threads changes nothing. Where all models of the first heats diverge, those of the next one
/// train to the end.
///
/// On a GPU nothing is dropped, because a GPU trains all models at once. Nor is anything dropped where links are learned:
/// their losses may stay level for most of the epochs and fall then, so that the pace at one time says little about later.
///
/// # Source
/// Maron, Moore (1994), Hoeffding races, for dropping what cannot win; Domhan, Springenberg, Hutter (2015), Speeding up
/// automatic hyperparameter optimization of deep neural networks by extrapolation of learning curves, for judging by what a
/// curve may still reach. The heats and the numbers are ours.
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
    let at_a_time = match grid.at_a_time(device) {
        Ok(at_a_time) => at_a_time,
        Err(failure) => return Raced { models: vec![Err(failure); settings.len()], dropped: Vec::new() },
    };
    let mut models: Vec<(usize, Result<Trained, Failure>)> = Vec::with_capacity(settings.len());
    let (mut dropped, mut lowest) = (Vec::new(), f64::INFINITY);
    for heat in heats(settings.len()) {
        let results = grid.on_cpu(&heat, at_a_time, |network, model| grid.trained_against(lowest, network, model));
        for (model, Run { trained, is_dropped }) in heat.into_iter().zip(results) {
            if is_dropped {
                dropped.push(model);
            } else if let Ok(trained) = &trained {
                lowest = lowest.min(lowest_loss(&trained.curve));
            }
            models.push((model, trained));
        }
    }
    dropped.sort_unstable();
    models.sort_by_key(|&(model, _)| model);
    Raced { models: models.into_iter().map(|(_, trained)| trained).collect(), dropped }
}

/// How far one model came.
struct Run {
    trained: Result<Trained, Failure>,
    is_dropped: bool,
}

impl Grid<'_> {
    /// Trains one model to the end, or until it is no longer expected to come near this loss.
    fn trained_against(&self, lowest: f64, network: &Network<Flex>, model: usize) -> Run {
        let name = checkpoint_name(model, 1);
        let mut batch = self.begin::<Flex>(&name, &self.settings[model..=model], &Default::default());
        let all = self.schedule.epochs;
        let mut is_dropped = false;
        for epochs in (1..=LAPS).map(|lap| all * lap / LAPS) {
            self.advance(&mut batch, &name, network, epochs);
            if batch.has_trained(all) {
                break;
            }
            // A checkpoint may be some epochs further, but not beyond the lap after which the model is dropped.
            if reachable_loss(&batch.curve(0)[..epochs], all) > lowest + (MARGIN * lowest).max(LEAST_MARGIN) {
                self.report_epochs((all - epochs) as u64);
                is_dropped = true;
                break;
            }
        }
        Run { trained: batch.finish(network).remove(0), is_dropped }
    }
}

/// Splits the numbers below `n` into heats, each of which has numbers from all over the range.
fn heats(n: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..n).collect();
    // The order of van der Corput's sequence: every new number comes into one of the widest gaps.
    order.sort_by_key(|model| model.reverse_bits());
    let (mut heats, mut size) = (Vec::new(), FIRST_HEAT);
    while !order.is_empty() {
        let rest = order.split_off(size.min(order.len()));
        heats.push(std::mem::replace(&mut order, rest));
        size *= 2;
    }
    heats
}

fn lowest_loss(curve: &[EpochRecord]) -> f64 {
    curve.iter().map(|record| record.validation_loss).fold(f64::INFINITY, f64::min)
}

/// Returns the lowest loss after `all` epochs, if it went on falling as in the last third of this curve: minus infinity where
/// this third is too short to have a pace.
fn reachable_loss(curve: &[EpochRecord], all: usize) -> f64 {
    let window = curve.len().div_ceil(3);
    if window < LEAST_WINDOW {
        return f64::NEG_INFINITY;
    }
    let (before, loss) = (lowest_loss(&curve[..curve.len() - window]), lowest_loss(curve));
    loss - (before - loss) / window as f64 * (all - curve.len()) as f64
}

#[cfg(test)]
mod tests;
