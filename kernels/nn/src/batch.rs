//! A batch of models in training: one on the CPU, a whole grid on a GPU.

use burn::backend::Autodiff;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Bool, Tensor, TensorData, TensorPrimitive};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::architecture::Parameter;
use crate::dataset::{Dataset, Failure};
use crate::differentiable::{Tracked, cross_entropy};
use crate::dropout::Dropout;
use crate::kernels::{Kernels, Moments, from_host, to_host};
use crate::network::Network;
use crate::score::softmax;
use crate::training::{EpochRecord, Grid, Schedule, Setting, Trained};

/// Models in training; every tensor is `[models, rows, columns]`.
pub(crate) struct Batch<'a, B: Kernels> {
    dataset: &'a Dataset,
    schedule: Schedule,
    device: B::Device,
    training: B::Labelled,
    validation: B::Labelled,
    shapes: Vec<(String, [usize; 2])>,
    rates: B::Rates,
    dropouts: Option<B::Dropouts>,
    parameters: Vec<FloatTensor<B>>,
    moments: Vec<Moments<B>>,
    /// Of the parameters as they are, if they were evaluated.
    forward: Option<Forward<B>>,
    epoch: usize,
    models: Vec<Model>,
    best: Option<Best<B>>,
}

/// Gradients of all tracked tensors.
type Gradients<B> = <Autodiff<B> as AutodiffBackend>::Gradients;

/// A pass over the graph that the next step goes on with.
struct Forward<B: Kernels> {
    first: Tracked<B>,
    parameters: Vec<Vec<Tracked<B>>>,
}

/// What is known of one model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Model {
    curve: Vec<EpochRecord>,
    best_epoch: Option<usize>,
    has_stopped: bool,
    /// Epoch whose loss was not finite.
    diverged: Option<usize>,
}

/// Every model at its best epoch.
struct Best<B: Kernels> {
    logits: FloatTensor<B>,
    parameters: Vec<FloatTensor<B>>,
}

/// All that a batch must remember to go on.
#[derive(Serialize, Deserialize)]
pub(crate) struct Snapshot {
    epoch: usize,
    models: Vec<Model>,
    parameters: Vec<Vec<f32>>,
    moments: Vec<[Vec<f32>; 2]>,
    best: Option<(Vec<f32>, Vec<Vec<f32>>)>,
}

impl<'a, B: Kernels> Batch<'a, B> {
    /// Untrained models.
    pub(crate) fn new(grid: &Grid<'a>, settings: &[Setting], device: &B::Device) -> Self {
        let shapes = grid.dataset.shapes();
        let mut parameters = vec![Vec::new(); shapes.len()];
        for setting in settings {
            let mut stream = grid.rng.fast_stream(&purpose("weights", grid.dataset, setting), setting.initial_seed);
            let values = grid.dataset.architecture.initial_values(&shapes, &mut stream);
            parameters.iter_mut().zip(values).for_each(|(all, own)| all.extend(own));
        }
        let moments = parameters.iter().map(|values| [(); 2].map(|()| vec![0.0; values.len()])).collect();
        let models = vec![Model::default(); settings.len()];
        let snapshot = Snapshot { epoch: 0, models, parameters, moments, best: None };
        Self::resume(grid, settings, snapshot, device)
    }

    /// Models as a snapshot left them.
    pub(crate) fn resume(grid: &Grid<'a>, settings: &[Setting], snapshot: Snapshot, device: &B::Device) -> Self {
        let dataset = grid.dataset;
        let shapes = dataset.shapes();
        let place = |values: Vec<Vec<f32>>| -> Vec<FloatTensor<B>> {
            let shaped = values.into_iter().zip(&shapes);
            shaped
                .map(|(values, (_, [rows, columns]))| from_host::<B>(values, [settings.len(), *rows, *columns], device))
                .collect()
        };
        let dropouts: Vec<Dropout> = settings
            .iter()
            .map(|setting| {
                let mut stream = grid.rng.fast_stream(&purpose("dropout", dataset, setting), setting.initial_seed);
                Dropout::new(setting.dropout, stream.next_u64())
            })
            .collect();
        let rates: Vec<[f32; 2]> =
            settings.iter().map(|setting| [setting.learning_rate as f32, setting.weight_decay as f32]).collect();
        let (first, second): (Vec<_>, Vec<_>) =
            snapshot.moments.into_iter().map(|[first, second]| (first, second)).unzip();
        let moments = place(first).into_iter().zip(place(second));
        let logits = [settings.len(), dataset.input.features.n_rows(), dataset.n_classes];
        let best = snapshot.best.map(|(values, parameters)| Best {
            logits: from_host::<B>(values, logits, device),
            parameters: place(parameters),
        });
        Self {
            dataset,
            schedule: grid.schedule,
            device: device.clone(),
            training: B::labelled(&dataset.training, device),
            validation: B::labelled(&dataset.validation, device),
            rates: B::rates(&rates, device),
            dropouts: settings.iter().any(|setting| setting.dropout > 0.0).then(|| B::dropouts(&dropouts, device)),
            parameters: place(snapshot.parameters),
            moments: moments.map(|(first, second)| Moments { first, second }).collect(),
            forward: None,
            epoch: snapshot.epoch,
            models: snapshot.models,
            best,
            shapes,
        }
    }

    /// Whether no model goes on.
    pub(crate) fn is_done(&self) -> bool {
        self.epoch == self.schedule.epochs || self.models.iter().all(|model| model.has_stopped)
    }

    /// One step of every model, and its evaluation. Where links are learned, every second step is theirs.
    pub(crate) fn epoch(&mut self, network: &Network<B>) {
        let links = network.learned().filter(|_| self.epoch % 2 == 1);
        if let Some(links) = links {
            self.forward = None;
            links.record();
        }
        let Forward { first, parameters } = self.forward.take().unwrap_or_else(|| self.begin(network));
        let logits = network.logits(first, &parameters, self.dropouts.as_ref(), self.epoch as u32);
        let losses = cross_entropy::<B>(logits, &self.training);
        let train_losses = to_host::<B>(losses.clone().inner().into_primitive().tensor());
        let mut gradients = losses.sum().backward();
        if let Some(links) = links {
            links.learn();
        } else {
            self.step(parameters, &mut gradients, network.learned().is_some());
        }

        let Forward { first, parameters } = self.begin(network);
        let fixed: Vec<Vec<Tracked<B>>> = parameters
            .iter()
            .map(|layer| layer.iter().map(|parameter| Tensor::from_inner(parameter.clone().inner())).collect())
            .collect();
        let logits = network.logits(Tensor::from_inner(first.clone().inner()), &fixed, None, 0);
        drop(fixed);
        self.forward = Some(Forward { first, parameters });
        self.select(logits.inner().into_primitive().tensor(), &train_losses);
        self.epoch += 1;
    }

    /// One step of Adam on the parameters.
    fn step(&mut self, parameters: Vec<Vec<Tracked<B>>>, gradients: &mut Gradients<B>, is_every_second: bool) {
        let step = if is_every_second { self.epoch / 2 } else { self.epoch } as u32 + 1;
        let mut updated = Vec::with_capacity(self.parameters.len());
        self.parameters.clear();
        for (parameter, moments) in parameters.into_iter().flatten().zip(&mut self.moments) {
            let gradient = parameter.grad_remove(gradients);
            let gradient = gradient.unwrap_or_else(|| unreachable!("every parameter has a gradient"));
            let [parameter, gradient] = [parameter.inner(), gradient].map(|tensor| tensor.into_primitive().tensor());
            updated.push(B::adam(parameter, gradient, moments, &self.rates, step));
        }
        self.parameters = updated;
    }

    /// Output of the first layer for the current parameters, with all that its gradient needs.
    fn begin(&self, network: &Network<B>) -> Forward<B> {
        let tracked = self.parameters.iter().map(|parameter| {
            let inner = Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(parameter.clone()));
            Tensor::<Autodiff<B>, 3>::from_inner(inner).require_grad()
        });
        let tracked: Vec<_> = tracked.collect();
        let parameters: Vec<Vec<_>> =
            tracked.chunks(tracked.len() / self.dataset.options.layers).map(<[Tracked<B>]>::to_vec).collect();
        Forward { first: network.first_layer(&parameters), parameters }
    }

    /// Records the epoch, and remembers the models that are better than ever.
    fn select(&mut self, logits: FloatTensor<B>, train_losses: &[f32]) {
        let scores = B::scores(logits.clone(), &self.validation);
        let mut is_better = vec![false; scores.len()];
        for (((model, &(loss, accuracy)), &train_loss), is_better) in
            self.models.iter_mut().zip(&scores).zip(train_losses).zip(&mut is_better)
        {
            if model.has_stopped {
                continue;
            }
            if !(loss.is_finite() && train_loss.is_finite()) {
                model.diverged = Some(self.epoch);
                model.has_stopped = true;
                continue;
            }
            let record =
                EpochRecord { train_loss: train_loss.into(), validation_loss: loss, validation_accuracy: accuracy };
            model.curve.push(record);
            *is_better = model.best_epoch.is_none_or(|best| loss < model.curve[best].validation_loss);
            if *is_better {
                model.best_epoch = Some(self.epoch);
            }
            let since = self.epoch - model.best_epoch.unwrap_or(self.epoch);
            model.has_stopped = self.schedule.patience.is_some_and(|patience| since >= patience);
        }
        match &mut self.best {
            None => self.best = Some(Best { logits, parameters: self.parameters.clone() }),
            best if is_better.iter().all(|&better| better) => {
                *best = Some(Best { logits, parameters: self.parameters.clone() });
            }
            Some(best) if is_better.iter().any(|&better| better) => {
                let mask = Tensor::from_data(TensorData::new(is_better, [scores.len(), 1, 1]), &self.device);
                best.logits = choose::<B>(&mask, &best.logits, logits);
                for (best, parameter) in best.parameters.iter_mut().zip(&self.parameters) {
                    *best = choose::<B>(&mask, best, parameter.clone());
                }
            }
            Some(_) => {}
        }
    }

    /// All that is needed to go on later.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let all = |tensors: &[FloatTensor<B>]| tensors.iter().map(|tensor| to_host::<B>(tensor.clone())).collect();
        let moments = self.moments.iter().map(|moments| [&moments.first, &moments.second]);
        Snapshot {
            epoch: self.epoch,
            models: self.models.clone(),
            parameters: all(&self.parameters),
            moments: moments.map(|pair| pair.map(|tensor| to_host::<B>(tensor.clone()))).collect(),
            best: self.best.as_ref().map(|best| (to_host::<B>(best.logits.clone()), all(&best.parameters))),
        }
    }

    /// The models at their best epochs.
    pub(crate) fn finish(self) -> Vec<Result<Trained, Failure>> {
        let Some(best) = self.best else { return vec![Err(Failure::Diverged(0)); self.models.len()] };
        let logits = to_host::<B>(best.logits);
        let parameters: Vec<Vec<f32>> = best.parameters.into_iter().map(to_host::<B>).collect();
        let size = logits.len() / self.models.len();
        let models = self.models.into_iter().enumerate();
        models
            .map(|(at, model)| {
                if let Some(epoch) = model.diverged {
                    return Err(Failure::Diverged(epoch));
                }
                let named = self.shapes.iter().zip(&parameters).map(|((name, shape), values)| {
                    let size = shape[0] * shape[1];
                    let values = values[at * size..(at + 1) * size].to_vec();
                    Parameter { name: name.clone(), shape: *shape, values }
                });
                Ok(Trained {
                    best_epoch: model.best_epoch.ok_or(Failure::Diverged(0))?,
                    probabilities: softmax(&logits[at * size..(at + 1) * size], self.dataset.n_classes),
                    parameters: named.collect(),
                    curve: model.curve,
                })
            })
            .collect()
    }
}

/// Names a random stream of one model.
fn purpose(part: &str, dataset: &Dataset, setting: &Setting) -> String {
    let Setting { learning_rate, weight_decay, dropout, .. } = setting;
    format!("{part} {} {learning_rate} {weight_decay} {dropout}", dataset.architecture.name())
}

/// `new` where the model's mask holds, else `old`.
fn choose<B: Kernels>(mask: &Tensor<B, 3, Bool>, old: &FloatTensor<B>, new: FloatTensor<B>) -> FloatTensor<B> {
    let [old, new] = [old.clone(), new].map(|tensor| Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(tensor)));
    let mask = mask.clone().expand(old.dims());
    old.mask_where(mask, new).into_primitive().tensor()
}
