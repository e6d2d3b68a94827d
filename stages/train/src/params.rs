//! The `[train]` table.

use serde::{Deserialize, Serialize};
use veilgraph_nn::{
    Architecture, Correction, Device, FIRST_HEAT, LinkLearning, NetworkOptions, SageNorm, Schedule, Setting, Unit,
};

use crate::Search;
use crate::checks::{check_patience, check_setting};

/// No network of the field has more layers, and shapes are listed for each before memory is counted.
const MOST_LAYERS: usize = 1000;
/// Most steps in which labels are averaged.
const MOST_HOPS: u32 = 1000;

/// The `[train]` table. Lists of `learning_rate`, `weight_decay`, `dropout` and `initial_seed` span a grid.
///
/// It is written without what the chosen model does not read, so that this is no part of its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a field of the table, and none excludes another")]
pub struct Params {
    /// Kind of network.
    pub model: Architecture,
    /// Most steps of full-batch training.
    pub epochs: usize,
    /// Steps without a better epoch after which training stops; all epochs if absent.
    pub patience: Option<usize>,
    /// Steps before the first that the patience counts.
    pub min_epochs: usize,
    /// Number of layers.
    pub layers: usize,
    /// Width of the hidden layers.
    pub hidden: usize,
    /// Step sizes of Adam.
    pub learning_rate: OneOrMany<f64>,
    /// L2 penalties.
    pub weight_decay: OneOrMany<f64>,
    /// Dropout rates of the hidden layers.
    pub dropout: OneOrMany<f64>,
    /// Draws of initial weights and dropout masks.
    pub initial_seed: OneOrMany<u64>,
    /// What GraphSAGE divides the weighted sum of neighbours by. Other models do not read it.
    pub sage_norm: SageNorm,
    /// Whether GAT multiplies messages by the weight again, as the paper prints it. Other models do not read it.
    pub gat_double_weight: bool,
    /// Function of the hidden units.
    pub activation: Unit,
    /// Heads of attention in the hidden layers of GAT, each of width `hidden`. Other models do not read it.
    pub heads: usize,
    /// What training does about the noise of labels. Without noise it makes no difference but for the epoch that is
    /// kept.
    pub labels: LabelUse,
    /// Steps over which `labels = "drop"` propagates labels. Others do not read it.
    pub label_hops: u32,
    /// Whether training sees no link of a test node. The network is then applied to the whole graph.
    pub inductive: bool,
    /// Whether the answers of the network are blended with the beliefs about classes that the posterior comes with.
    pub blend: bool,
    /// Whether the network reads these beliefs beside the features.
    pub beliefs: bool,
    /// How far the models of a grid are trained. A single setting does not read it.
    pub search: Search,
    /// How links are learned, where the mechanism asks for it (Solitude); by default, if absent.
    pub links: Option<LinkLearning>,
    /// Where to train.
    pub device: Device,
}

/// What training does about noisy labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelUse {
    /// Nothing: they are taken for true ones.
    #[default]
    Plain,
    /// The loss compares them with what the model says about noisy labels (Patrini et al. 2017).
    Forward,
    /// As `forward`, with both sides propagated over the graph (Sajadmanesh, Gatica-Perez 2021, LPGNN, algorithm 3).
    Drop,
}

/// [`Params`] as they are written: field by field, but for those that the model does not read.
#[derive(Serialize)]
struct Written {
    model: Architecture,
    epochs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    patience: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_epochs: Option<usize>,
    layers: usize,
    hidden: usize,
    learning_rate: OneOrMany<f64>,
    weight_decay: OneOrMany<f64>,
    dropout: OneOrMany<f64>,
    initial_seed: OneOrMany<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sage_norm: Option<SageNorm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gat_double_weight: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activation: Option<Unit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<LabelUse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_hops: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inductive: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blend: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beliefs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Search>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<LinkLearning>,
    device: Device,
}

impl From<Params> for Written {
    fn from(params: Params) -> Self {
        let Params { model, epochs, patience, layers, hidden, .. } = params;
        Self {
            model,
            epochs,
            patience,
            min_epochs: (params.min_epochs > 0).then_some(params.min_epochs),
            layers,
            hidden,
            learning_rate: params.learning_rate,
            weight_decay: params.weight_decay,
            dropout: params.dropout,
            initial_seed: params.initial_seed,
            sage_norm: (model == Architecture::GraphSage).then_some(params.sage_norm),
            gat_double_weight: (model == Architecture::Gat).then_some(params.gat_double_weight),
            // What came later is written only where it is not the default, so that older keys stay as they are.
            activation: (params.activation != Unit::default()).then_some(params.activation),
            heads: (model == Architecture::Gat && params.heads != 1).then_some(params.heads),
            labels: (params.labels != LabelUse::Plain).then_some(params.labels),
            label_hops: (params.labels == LabelUse::Drop).then_some(params.label_hops),
            inductive: params.inductive.then_some(true),
            blend: params.blend.then_some(true),
            beliefs: params.beliefs.then_some(true),
            search: (params.search != Search::Full).then_some(params.search),
            links: params.links,
            device: params.device,
        }
    }
}

/// A value or a list of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number, or a list of numbers")]
pub enum OneOrMany<T> {
    /// One value.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(crate) fn values(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            model: Architecture::Gcn,
            epochs: 300,
            patience: None,
            min_epochs: 0,
            layers: 2,
            hidden: 16,
            learning_rate: OneOrMany::One(0.01),
            weight_decay: OneOrMany::One(1e-3),
            dropout: OneOrMany::One(0.1),
            initial_seed: OneOrMany::One(0),
            sage_norm: SageNorm::Clamp1,
            gat_double_weight: true,
            activation: Unit::Relu,
            heads: 1,
            labels: LabelUse::Plain,
            label_hops: 8,
            inductive: false,
            blend: false,
            beliefs: false,
            search: Search::Full,
            links: None,
            device: Device::Cpu,
        }
    }
}

impl Params {
    /// Every combination of the lists, the last varying fastest.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for &learning_rate in self.learning_rate.values() {
            for &weight_decay in self.weight_decay.values() {
                for &dropout in self.dropout.values() {
                    for &initial_seed in self.initial_seed.values() {
                        settings.push(Setting { learning_rate, weight_decay, dropout, initial_seed });
                    }
                }
            }
        }
        settings
    }

    /// Whether a race can drop settings of this grid. A GPU trains all models at once, learned links do not race, and the
    /// first heat is never dropped. Where noisy labels are corrected, a low loss may be that of an epoch which has learned the noise.
    #[must_use]
    pub fn can_race(&self) -> bool {
        self.device == Device::Cpu
            && self.links.is_none()
            && self.labels == LabelUse::Plain
            && self.settings().len() > FIRST_HEAT
    }

    /// Choices inside the layers.
    #[must_use]
    pub fn options(&self) -> NetworkOptions {
        NetworkOptions {
            layers: self.layers,
            hidden: self.hidden,
            sage_norm: self.sage_norm,
            gat_double_weight: self.gat_double_weight,
            activation: self.activation,
            heads: if self.model == Architecture::Gat { self.heads } else { 1 },
        }
    }

    /// How long to train.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        Schedule { epochs: self.epochs, patience: self.patience, min_epochs: self.min_epochs, ..Schedule::default() }
    }

    /// What training does about the noise of labels.
    #[must_use]
    pub fn correction(&self) -> Correction {
        match self.labels {
            LabelUse::Plain => Correction::Plain,
            LabelUse::Forward => Correction::Forward,
            LabelUse::Drop => Correction::Drop { hops: self.label_hops },
        }
    }

    /// Whether every field makes sense.
    ///
    /// # Errors
    /// Names the field, its value and its range.
    pub fn check(&self) -> Result<(), String> {
        if self.settings().is_empty() {
            return Err("learning_rate, weight_decay, dropout and initial_seed need at least one value each".into());
        }
        self.settings().into_iter().try_for_each(check_setting)?;
        let LinkLearning { learning_rate, deviation, sparsity } = self.links.unwrap_or_default();
        let is_price = |price: f64| price >= 0.0 && price.is_finite();
        if !(learning_rate > 0.0 && learning_rate.is_finite() && is_price(deviation) && is_price(sparsity)) {
            return Err("links: learning_rate must be positive, deviation and sparsity at least 0".into());
        }
        if self.labels == LabelUse::Drop && self.label_hops == 0 {
            return Err(
                "label_hops must be at least 1 where labels = \"drop\"; labels = \"forward\" averages no label".into(),
            );
        }
        if self.label_hops > MOST_HOPS {
            return Err(format!("label_hops must be at most {MOST_HOPS}, not {}", self.label_hops));
        }
        if self.epochs == 0 || self.hidden == 0 || self.layers == 0 || self.heads == 0 || self.patience == Some(0) {
            return Err("epochs, hidden, layers, heads and patience must be at least 1".into());
        }
        if self.layers > MOST_LAYERS {
            return Err(format!("layers must be at most {MOST_LAYERS}, not {}", self.layers));
        }
        check_patience(self.patience, self.min_epochs)
    }
}
