//! Full-batch training of a grid, with every model chosen at its lowest validation loss.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use burn::backend::Flex;
use veilgraph_contract::{Progress, StageRng};

use crate::batch::Batch;
use crate::dataset::Dataset;
use crate::device::Device;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
use crate::device_room::Room;
use crate::failure::Failure;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
use crate::footprint::Footprint;
use crate::grid::{Grid, Schedule, Setting, Trained};
use crate::host_memory::HostFootprint;
use crate::network::Network;
use crate::ops::DeviceOps;

/// Trains every model of a grid: one per thread on the CPU, as many at once as fit on a GPU.
///
/// A model's result depends on its setting, the schedule and `rng` alone; on the CPU bit for bit. Where
/// `progress` keeps checkpoints, an interrupted training goes on from its last one.
///
/// # Errors
/// One per model: when a loss is not finite, or there is too little memory.
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
    // Learned links stay on the CPU, whatever the device.
    let device = if dataset.learns_links() { Device::Cpu } else { device };
    let at_a_time = match grid.at_a_time(device) {
        Ok(at_a_time) => at_a_time,
        Err(failure) => return vec![Err(failure); settings.len()],
    };
    match device {
        Device::Cpu => {
            let all: Vec<usize> = (0..settings.len()).collect();
            grid.on_cpu(&all, at_a_time, |network, model| {
                grid.batch(network, model, &settings[model..=model], &Default::default()).remove(0)
            })
        }
        #[cfg(feature = "cuda")]
        Device::Cuda => grid.as_batches::<burn::backend::Cuda>(),
        #[cfg(feature = "vulkan")]
        Device::Vulkan => grid.as_batches::<burn::backend::Wgpu>(),
        #[cfg(not(all(feature = "cuda", feature = "vulkan")))]
        _ => unreachable!("the stage asks `Device::check` first"),
    }
}

/// Returns `train(0)`, `train(1)`, ... of `n` models, each on an OS thread, with so many at a time.
///
/// Do not use rayon's own threads here. One that waits for a part of a product meanwhile takes up other work; were that
/// another model, it would run on the same stack, and wait for ever for a lock of burn's gradients that the suspended
/// model below it holds.
pub fn on_threads<T: Send>(n: usize, at_a_time: usize, train: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..n.min(at_a_time) {
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

#[cfg(any(feature = "cuda", feature = "vulkan"))]
impl Grid<'_> {
    /// Trains as many models at once as fit into the memory of the device. Grids of other tasks train beside them where there is
    /// room, and wait otherwise.
    fn as_batches<B: DeviceOps>(&self) -> Vec<Result<Trained, Failure>> {
        static ROOM: Room = Room::new();
        let device = B::Device::default();
        let memory = B::memory(&device).unwrap_or(u64::MAX);
        let footprint = Footprint::of(self.dataset, memory);
        let at_once = footprint.models_at_once(memory).min(self.settings.len());
        let bytes = footprint.bytes.saturating_mul(at_once as u64).saturating_add(footprint.shared);
        tracing::info!("{at_once} models at once, about {} MiB of {} MiB on the device", bytes >> 20, memory >> 20);
        let mut results = Vec::new();
        // What the device refuses beside other grids is tried again alone.
        for (bytes, is_alone) in [(bytes, false), (u64::MAX, true)] {
            if results.len() < self.settings.len() {
                ROOM.take(bytes, memory).run(|| {
                    self.train_batches::<B>(&mut results, at_once, is_alone, &device);
                    B::free_unused(&device);
                });
            }
        }
        results
    }

    /// Trains what has no result yet, so many models at once. Where the device refuses a batch, this ends beside other grids; alone, the
    /// batch is halved, and a single model that does not fit fails.
    fn train_batches<B: DeviceOps>(
        &self,
        results: &mut Vec<Result<Trained, Failure>>,
        mut at_once: usize,
        is_alone: bool,
        device: &B::Device,
    ) {
        let network = match crate::device::quietly(|| Network::<B>::new(&self.dataset.input, device)) {
            Ok(network) => network,
            Err(reason) if !is_alone => return log_refusal(&reason),
            Err(reason) => {
                let left = results.len()..self.settings.len();
                return results.extend(left.map(|_| Err(Failure::Device(reason.clone()))));
            }
        };
        while results.len() < self.settings.len() {
            let first = results.len();
            let chunk = &self.settings[first..(first + at_once).min(self.settings.len())];
            match crate::device::quietly(|| self.batch(&network, first, chunk, device)) {
                Ok(trained) => results.extend(trained),
                Err(reason) if !is_alone => return log_refusal(&reason),
                Err(reason) if chunk.len() > 1 => {
                    at_once = chunk.len().div_ceil(2);
                    tracing::info!("{at_once} models at once, because the device refused more: {reason}");
                }
                Err(reason) => results.push(Err(Failure::Device(reason))),
            }
        }
    }
}

/// Logs why a grid is tried again.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn log_refusal(reason: &str) {
    tracing::info!("the grid is tried again when no other one is on the device, which refused it: {reason}");
}

impl<'a> Grid<'a> {
    /// How many models train at a time on the processor: as many as there are threads and as fit into the memory that the run may
    /// use. None trains there where they train on another device.
    ///
    /// # Errors
    /// When the models do not fit although they train one after the other.
    pub(crate) fn at_a_time(&self, device: Device) -> Result<usize, Failure> {
        let wanted = match device {
            Device::Cpu if self.dataset.learns_links() => 1,
            Device::Cpu => rayon::current_num_threads().min(self.settings.len()),
            _ => 0,
        };
        HostFootprint::of(self.dataset).at_a_time(self.settings.len(), wanted, self.progress.memory())
    }

    /// Returns `train` of each of these models of the grid, with so many at a time on the CPU.
    ///
    /// Where links are learned, each model has a network of its own, because the network holds the links that the model learns.
    /// Such models train one after the other: a single one keeps all threads busy with its links.
    pub(crate) fn on_cpu<T: Send>(
        &self,
        models: &[usize],
        at_a_time: usize,
        train: impl Fn(&Network<Flex>, usize) -> T + Sync,
    ) -> Vec<T> {
        let network = || Network::<Flex>::new(&self.dataset.input, &Default::default());
        if self.dataset.learns_links() {
            return on_threads(models.len(), at_a_time, |at| train(&network(), models[at]));
        }
        let network = network();
        on_threads(models.len(), at_a_time, |at| train(&network, models[at]))
    }

    /// Trains the models from number `first` on as one batch, or goes on where a checkpoint left it.
    fn batch<B: DeviceOps>(
        &self,
        network: &Network<B>,
        first: usize,
        settings: &[Setting],
        device: &B::Device,
    ) -> Vec<Result<Trained, Failure>> {
        let name = checkpoint_name(first, settings.len());
        let mut batch: Batch<'_, B> = self.begin(&name, settings, device);
        self.advance(&mut batch, &name, network, self.schedule.epochs);
        batch.finish(network)
    }

    /// Models before their first epoch, or where the checkpoint of this name left them.
    pub(crate) fn begin<B: DeviceOps>(&self, name: &str, settings: &[Setting], device: &B::Device) -> Batch<'a, B> {
        match self.progress.checkpoint(name).and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
            Some(snapshot) => Batch::resume(self, settings, snapshot, device),
            None => Batch::new(self, settings, device),
        }
    }

    /// Trains a batch until so many epochs are done or no model goes on, and leaves checkpoints of this name.
    pub(crate) fn advance<B: DeviceOps>(
        &self,
        batch: &mut Batch<'_, B>,
        name: &str,
        network: &Network<B>,
        epochs: usize,
    ) {
        // Learned links are no part of a snapshot: they would take gibibytes.
        let can_resume = network.learned().is_none();
        let n_models = batch.n_models() as u64;
        while !batch.has_trained(epochs) {
            batch.epoch(network);
            let is_finished = batch.has_trained(self.schedule.epochs) && self.progress.keeps_finished();
            if can_resume
                && (is_finished || self.progress.checkpoint_is_due(name))
                && let Ok(bytes) = postcard::to_stdvec(&batch.snapshot())
            {
                self.progress.save_checkpoint(name, &bytes);
            }
            self.report_epochs(n_models);
        }
    }

    /// Reports so many more epochs that are trained, or need not be.
    pub(crate) fn report_epochs(&self, epochs: u64) {
        let done = self.done.fetch_add(epochs, Ordering::Relaxed) + epochs;
        self.progress.report(done, (self.settings.len() * self.schedule.epochs) as u64);
    }
}

/// Name of the checkpoints of `n` models from number `first` on.
pub(crate) fn checkpoint_name(first: usize, n: usize) -> String {
    format!("models-{first}-{}", first + n)
}

#[cfg(test)]
mod tests;
