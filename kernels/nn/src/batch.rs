//! A batch of models in training: one model on the CPU, a whole grid on a GPU.
//!
//! Every tensor has the dimensions `[models, rows, columns]`, and no operation mixes models: a model's numbers are the
//! same in every batch. An epoch is a step on the training loss, then an evaluation on the validation nodes. Models
//! that have stopped are computed along with the others, but no longer recorded.

mod best;
mod forward;
mod history;
mod snapshot;

use burn::backend::Autodiff;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::ops::FloatTensor;
use rand::Rng;

use crate::adam::{Corrections, Moments, Rates};
use crate::architecture::{Parameter, named};
use crate::dataset::Dataset;
use crate::differentiable::Tracked;
use crate::dropout::Dropout;
use crate::failure::Failure;
use crate::grid::{EpochRecord, Grid, Schedule, Setting, Trained};
use crate::layer::Layer;
use crate::map::ReadRows;
use crate::network::Network;
use crate::objective::{Objective, Selection};
use crate::ops::{DeviceOps, from_host, to_host};
use crate::score::softmax;
use best::Best;
use forward::{Forward, Pass};
use history::History;
use snapshot::{SavedParameter, Snapshot};

/// Models in training.
pub(crate) struct Batch<'a, B: DeviceOps> {
    dataset: &'a Dataset,
    schedule: Schedule,
    device: B::Device,
    training: B::Labelled,
    validation: B::Labelled,
    /// Nodes whose logits are read in a step.
    read_in_step: ReadRows,
    /// Nodes whose logits are read in an evaluation.
    read_in_evaluation: ReadRows,
    rates: B::AllRates,
    /// Absent where no model drops anything.
    dropouts: Option<B::Dropouts>,
    layers: Vec<Layer<FloatTensor<B>>>,
    moments: Vec<Layer<Moments<B>>>,
    /// The first layer at the present parameters. An evaluation computes it, and the next step goes on from it.
    forward: Option<Forward<B>>,
    /// Epochs that are done.
    epoch: usize,
    models: Vec<History>,
    /// Absent before the first epoch.
    best: Option<Best<B>>,
}

/// Gradients of all tracked tensors.
type Gradients<B> = <Autodiff<B> as AutodiffBackend>::Gradients;

impl<'a, B: DeviceOps> Batch<'a, B> {
    /// Models with initial parameters, each drawn from the model's own stream.
    pub(crate) fn new(grid: &Grid<'a>, settings: &[Setting], device: &B::Device) -> Self {
        let shapes = grid.dataset.layers();
        let mut values: Vec<Layer<Vec<f32>>> = shapes.iter().map(|layer| layer.as_ref().map(|_| Vec::new())).collect();
        for setting in settings {
            let mut stream = grid.rng.fast_stream(&purpose("weights", grid.dataset, setting), setting.initial_seed);
            let initial = grid.dataset.architecture.initial_values(&shapes, &mut stream);
            for (all, own) in values.iter_mut().zip(initial) {
                all.as_mut().zip(own).map(|(all, own)| all.extend(own));
            }
        }
        let layers = values.into_iter().map(|layer| layer.map(SavedParameter::new)).collect();
        let models = vec![History::default(); settings.len()];
        Self::resume(grid, settings, Snapshot { epoch: 0, models, layers, best: None }, device)
    }

    /// Models as a snapshot left them.
    pub(crate) fn resume(grid: &Grid<'a>, settings: &[Setting], snapshot: Snapshot, device: &B::Device) -> Self {
        let dataset = grid.dataset;
        let shapes = dataset.layers();
        let place = |values: Vec<f32>, [rows, columns]: [usize; 2]| {
            from_host::<B>(values, [settings.len(), rows, columns], device)
        };
        let (mut layers, mut moments) = (Vec::new(), Vec::new());
        for (saved, shapes) in snapshot.layers.into_iter().zip(&shapes) {
            let placed = saved.zip(shapes.clone()).map(|(saved, shape)| {
                let moments = Moments { first: place(saved.first, shape), second: place(saved.second, shape) };
                (place(saved.values, shape), moments)
            });
            let (values, own) = placed.unzip();
            layers.push(values);
            moments.push(own);
        }
        let best = snapshot.best.map(|layers| Best {
            logits: None,
            layers: layers
                .into_iter()
                .zip(&shapes)
                .map(|(saved, shapes)| saved.zip(shapes.clone()).map(|(values, shape)| place(values, shape)))
                .collect(),
        });
        let rates = settings.iter().map(|setting| Rates {
            learning_rate: setting.learning_rate as f32,
            weight_decay: setting.weight_decay as f32,
        });
        let dropouts = settings.iter().map(|setting| {
            let mut stream = grid.rng.fast_stream(&purpose("dropout", dataset, setting), setting.initial_seed);
            Dropout::new(setting.dropout, stream.next_u64())
        });
        let drops = settings.iter().any(|setting| setting.dropout > 0.0);
        Self {
            dataset,
            schedule: grid.schedule,
            device: device.clone(),
            training: B::labelled(&dataset.training, device),
            validation: B::labelled(&dataset.validation, device),
            read_in_step: dataset.read_in_step(),
            read_in_evaluation: Some(dataset.read_in_evaluation()),
            rates: B::all_rates(&rates.collect::<Vec<_>>(), device),
            dropouts: drops.then(|| B::dropouts(&dropouts.collect::<Vec<_>>(), device)),
            layers,
            moments,
            forward: None,
            epoch: snapshot.epoch,
            models: snapshot.models,
            best,
        }
    }

    /// Number of models.
    pub(crate) fn n_models(&self) -> usize {
        self.models.len()
    }

    /// Whether so many epochs are done, or no model goes on.
    pub(crate) fn has_trained(&self, epochs: usize) -> bool {
        self.epoch >= epochs || self.models.iter().all(|model| model.has_stopped)
    }

    /// The curve of one model so far.
    pub(crate) fn curve(&self, model: usize) -> &[EpochRecord] {
        &self.models[model].curve
    }

    /// One step of every model, then its evaluation.
    ///
    /// Where links are learned, steps of the parameters and of the links alternate, and begin with the parameters. The
    /// products behind a step of the links are recorded, also those of its first layer, which the evaluation before it
    /// computes.
    pub(crate) fn epoch(&mut self, network: &Network<B>) {
        let steps_links = self.epoch % 2 == 1;
        let train_losses = if let Some(links) = network.learned().filter(|_| steps_links) {
            let Pass { train_losses, .. } = links.recorded(|| self.pass(network));
            links.learn();
            train_losses
        } else {
            let Pass { train_losses, layers, mut gradients } = self.pass(network);
            self.step(layers, &mut gradients, network.learned().is_some());
            train_losses
        };

        let forward = match network.learned() {
            // The next epoch steps the links.
            Some(links) if !steps_links => links.recorded(|| Forward::new(network, &self.layers)),
            _ => Forward::new(network, &self.layers),
        };
        let logits = forward.evaluate(network, &self.read_in_evaluation);
        let is_better = self.record(logits, train_losses);
        // The logits of all nodes follow from the parameters later on, unless the links go on changing.
        let keeps_logits = self.dataset.learns_links() && self.dataset.keeps_probabilities && is_better.contains(&true);
        let best_logits = keeps_logits.then(|| forward.evaluate(network, &None));
        match &mut self.best {
            Some(best) => best.update(is_better, best_logits, &self.layers, &self.device),
            // Models that diverged in the first epoch are among these, and fail when they are asked for.
            None => self.best = Some(Best { logits: best_logits, layers: self.layers.clone() }),
        }
        self.forward = Some(forward);
        self.epoch += 1;
    }

    /// One step of Adam on the parameters.
    fn step(&mut self, layers: Vec<Layer<Tracked<B>>>, gradients: &mut Gradients<B>, is_every_second: bool) {
        let step = if is_every_second { self.epoch / 2 } else { self.epoch } as u32 + 1;
        let factor = self.schedule.step_sizes.factor(self.epoch, self.schedule.epochs);
        let corrections = Corrections::at(step).resized(factor);
        // The step may write in place where nobody else holds the tensor, hence the batch lets go of its own.
        self.layers.clear();
        for (layer, moments) in layers.into_iter().zip(&mut self.moments) {
            self.layers.push(layer.zip(moments.as_mut()).map(|(parameter, moments)| {
                let gradient = parameter.grad_remove(gradients);
                let gradient = gradient.unwrap_or_else(|| unreachable!("every parameter has a gradient"));
                let [parameter, gradient] =
                    [parameter.inner(), gradient].map(|tensor| tensor.into_primitive().tensor());
                B::adam(parameter, gradient, moments, &self.rates, corrections)
            }));
        }
    }

    /// Records the epoch, and says which models are better than ever.
    ///
    /// # Shapes
    /// `logits`: `[models, n, classes]`, of the nodes that are read. `train_losses`: `[models, 1, 1]`.
    fn record(&mut self, logits: FloatTensor<B>, train_losses: FloatTensor<B>) -> Vec<bool> {
        let scores = match &self.dataset.objective {
            Objective::CrossEntropy => B::scores(logits.clone(), &self.validation),
            Objective::Noisy(objective) => {
                let values = to_host::<B>(logits.clone());
                let models = values.chunks_exact(values.len() / self.models.len());
                models.map(|logits| objective.score(logits, &self.dataset.validation)).collect()
            }
        };
        let rule = (self.schedule, self.dataset.selection);
        let training = match self.dataset.selection {
            Selection::LowestLoss => None,
            Selection::Plausible { .. } => Some(B::scores(logits, &self.training)),
        };
        // They are read last: a GPU has computed them by now, and whoever reads waits for all that it was given to do.
        let train_losses = to_host::<B>(train_losses);
        let mut is_better = Vec::with_capacity(self.models.len());
        for (at, model) in self.models.iter_mut().enumerate() {
            let record = EpochRecord {
                train_loss: train_losses[at].into(),
                validation_loss: scores[at].loss,
                validation_accuracy: scores[at].accuracy,
            };
            let train_accuracy = training.as_ref().map_or(0.0, |scores| scores[at].accuracy);
            is_better.push(model.record(self.epoch, record, train_accuracy, rule));
        }
        is_better
    }

    /// All that is needed to go on later.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let values = |tensor: &FloatTensor<B>| to_host::<B>(tensor.clone());
        let layers = self.layers.iter().zip(&self.moments).map(|(layer, moments)| {
            layer.as_ref().zip(moments.as_ref()).map(|(parameter, moments)| SavedParameter {
                values: values(parameter),
                first: values(&moments.first),
                second: values(&moments.second),
            })
        });
        let of_best = |best: &Best<B>| best.layers.iter().map(|layer| layer.as_ref().map(values)).collect();
        let best = self.best.as_ref().map(of_best);
        Snapshot { epoch: self.epoch, models: self.models.clone(), layers: layers.collect(), best }
    }

    /// The models at their best epochs.
    pub(crate) fn finish(self, network: &Network<B>) -> Vec<Result<Trained, Failure>> {
        let Self { dataset, models, best, forward, layers, moments, .. } = self;
        // A device may have no room for these beside one more pass.
        drop((forward, layers, moments));
        let Some(best) = best else { return vec![Err(Failure::Diverged(0)); models.len()] };
        let logits = if !dataset.keeps_probabilities {
            Vec::new()
        } else if let Some(logits) = best.logits {
            to_host::<B>(logits)
        } else if dataset.learns_links() {
            // A model that has no best epoch has no logits.
            return models.iter().map(|model| Err(model.best().err().unwrap_or(Failure::Diverged(0)))).collect();
        } else {
            to_host::<B>(Forward::new(network, &best.layers).evaluate(network, &None))
        };
        let values: Vec<Layer<Vec<f32>>> = best.layers.into_iter().map(|layer| layer.map(to_host::<B>)).collect();
        let shapes = dataset.layers();
        let size = logits.len() / models.len();
        let finished = models.into_iter().enumerate().map(|(at, model)| {
            let best_epoch = model.best()?;
            let probabilities = softmax(&logits[at * size..(at + 1) * size], dataset.n_classes);
            let parts = shapes.iter().zip(&values).map(|(shapes, values)| shapes.as_ref().zip(values.as_ref()));
            let parameters = named(parts).into_iter().map(|(name, (&shape, values))| {
                let size = shape[0] * shape[1];
                Parameter { name, shape, values: values[at * size..(at + 1) * size].to_vec() }
            });
            Ok(Trained { best_epoch, probabilities, parameters: parameters.collect(), curve: model.curve })
        });
        finished.collect()
    }
}

/// Name of one model's random stream. Models with the same setting draw the same numbers, whatever the grid.
fn purpose(part: &str, dataset: &Dataset, setting: &Setting) -> String {
    let Setting { learning_rate, weight_decay, dropout, .. } = setting;
    format!("{part} {} {learning_rate} {weight_decay} {dropout}", dataset.architecture.name())
}
