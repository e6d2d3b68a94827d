//! Full-batch training of a grid, with every model chosen at its lowest validation loss.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use burn::backend::Flex;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Progress, StageRng};

use crate::architecture::Parameter;
use crate::batch::Batch;
use crate::dataset::{Dataset, Failure};
use crate::device::Device;
use crate::kernels::Kernels;
use crate::network::Network;

/// Hyperparameters of one model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Step size of Adam.
    pub learning_rate: f64,
    /// L2 penalty on all parameters, inside Adam.
    pub weight_decay: f64,
    /// Share of hidden units dropped in each step.
    pub dropout: f64,
    /// Which initial weights and dropout masks are drawn.
    pub initial_seed: u64,
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self { learning_rate, weight_decay, dropout, initial_seed } = self;
        write!(
            formatter,
            "learning_rate={learning_rate} weight_decay={weight_decay} dropout={dropout} initial_seed={initial_seed}"
        )
    }
}

/// How long a model trains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Most steps.
    pub epochs: usize,
    /// Steps without a lower validation loss after which training stops.
    pub patience: Option<usize>,
}

/// One epoch of a model, measured after its step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Mean cross-entropy on the training nodes, with dropout, before the step; in nats.
    pub train_loss: f64,
    /// Mean cross-entropy on the validation nodes; in nats.
    pub validation_loss: f64,
    /// Share of validation nodes that are classified correctly.
    pub validation_accuracy: f64,
}

/// A trained model at its best epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Every epoch.
    pub curve: Vec<EpochRecord>,
    /// Epoch with the lowest validation loss (the first, if several).
    pub best_epoch: usize,
    /// Class probabilities at that epoch, row-major `[n_nodes, n_classes]`.
    pub probabilities: Vec<f32>,
    /// Parameters at that epoch.
    pub parameters: Vec<Parameter>,
}

/// Trains every model of a grid: one per thread on the CPU, as many at once as fit on a GPU.
///
/// A model's result depends on its setting, the schedule and `rng` alone; on the CPU bit for bit. Where
/// `progress` keeps checkpoints, an interrupted training goes on from its last one.
///
/// # Errors
/// One per model: when a loss is not finite, or the device has too little memory.
#[must_use]
pub fn train(
    dataset: &Dataset,
    settings: &[Setting],
    schedule: Schedule,
    device: Device,
    rng: &StageRng,
    progress: &Progress,
) -> Vec<Result<Trained, Failure>> {
    let grid = Grid::new(dataset, settings, schedule, rng, progress);
    if dataset.learns_links() {
        // Each model has links of its own, and works on them with all threads; its state is too large to save.
        let train = |model: usize| {
            let network = Network::<Flex>::new(dataset.architecture, &dataset.input, &Default::default());
            grid.batch(&network, model, &settings[model..=model], &Default::default()).remove(0)
        };
        return (0..settings.len()).map(|model| on_threads(1, |_| train(model)).remove(0)).collect();
    }
    match device {
        Device::Cpu => {
            let network = Network::<Flex>::new(dataset.architecture, &dataset.input, &Default::default());
            on_threads(settings.len(), |model| {
                grid.batch(&network, model, &settings[model..=model], &Default::default()).remove(0)
            })
        }
        #[cfg(feature = "cuda")]
        Device::Cuda => grid.wide::<burn::backend::Cuda>(),
        #[cfg(feature = "vulkan")]
        Device::Vulkan => grid.wide::<burn::backend::Wgpu>(),
        #[cfg(not(all(feature = "cuda", feature = "vulkan")))]
        _ => unreachable!("the stage asks `Device::check` first"),
    }
}

/// `train(0)`, `train(1)`, ... of `n` models, as many at a time as products have threads, on threads of their own.
///
/// Not on those of rayon: a thread there that waits for a part of a product takes up other work. Were that another
/// model, its gradient could wait for a lock that the first one, suspended below it, holds.
fn on_threads<T: Send>(n: usize, train: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..n.min(rayon::current_num_threads()) {
            scope.spawn(|| {
                loop {
                    let model = next.fetch_add(1, Ordering::Relaxed);
                    if model >= n {
                        break;
                    }
                    let trained = train(model);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(model, trained);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// A grid to train.
pub(crate) struct Grid<'a> {
    pub dataset: &'a Dataset,
    pub settings: &'a [Setting],
    pub schedule: Schedule,
    pub rng: &'a StageRng,
    pub progress: &'a Progress<'a>,
    /// Epochs that all models together have trained.
    pub done: AtomicU64,
}

#[cfg(any(feature = "cuda", feature = "vulkan"))]
impl Grid<'_> {
    /// Trains as many models at once as fit into the memory of the device. Grids of other tasks wait, since
    /// all count on the same memory.
    fn wide<B: Kernels>(&self) -> Vec<Result<Trained, Failure>> {
        static DEVICE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _alone = DEVICE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let device = B::Device::default();
        let network = Network::<B>::new(self.dataset.architecture, &self.dataset.input, &device);
        let (memory, one) = (B::memory(&device).unwrap_or(u64::MAX), self.dataset.bytes_per_model());
        let mut at_once = ((memory / one.max(1)) as usize).clamp(1, self.settings.len());
        let mut results = Vec::new();
        while results.len() < self.settings.len() {
            let first = results.len();
            let chunk = &self.settings[first..(first + at_once).min(self.settings.len())];
            tracing::info!(
                "{} models at once, about {} MiB of {} MiB on the device",
                chunk.len(),
                (one * chunk.len() as u64) >> 20,
                memory >> 20
            );
            match crate::device::quietly(|| self.batch(&network, first, chunk, &device)) {
                Ok(trained) => results.extend(trained),
                Err(_) if chunk.len() > 1 => at_once = chunk.len().div_ceil(2),
                Err(reason) => results.push(Err(Failure::Device(reason))),
            }
        }
        results
    }
}

impl<'a> Grid<'a> {
    fn new(
        dataset: &'a Dataset,
        settings: &'a [Setting],
        schedule: Schedule,
        rng: &'a StageRng,
        progress: &'a Progress<'a>,
    ) -> Self {
        Self { dataset, settings, schedule, rng, progress, done: AtomicU64::new(0) }
    }

    /// Trains the models from number `first` on as one batch, or takes up where a checkpoint left it.
    fn batch<B: Kernels>(
        &self,
        network: &Network<B>,
        first: usize,
        settings: &[Setting],
        device: &B::Device,
    ) -> Vec<Result<Trained, Failure>> {
        let name = format!("models-{first}-{}", first + settings.len());
        let can_resume = network.learned().is_none();
        let kept = self.progress.checkpoint(&name).and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let mut batch = match kept {
            Some(snapshot) => Batch::resume(self, settings, snapshot, device),
            None => Batch::new(self, settings, device),
        };
        while !batch.is_done() {
            batch.epoch(network);
            if can_resume
                && self.progress.checkpoint_is_due(&name)
                && let Ok(bytes) = postcard::to_stdvec(&batch.snapshot())
            {
                self.progress.save_checkpoint(&name, &bytes);
            }
            let steps = self.done.fetch_add(settings.len() as u64, Ordering::Relaxed) + settings.len() as u64;
            self.progress.report(steps, (self.settings.len() * self.schedule.epochs) as u64);
        }
        batch.finish()
    }
}

#[cfg(test)]
mod tests;
