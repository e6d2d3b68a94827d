//! Predictions that no network makes: the classes that are believed, and the most frequent class.

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::{ClassBeliefs, Curves, Labels, ModelPredictions, Nodes, Predictions, Split};

/// Predicts what is believed about the classes. The beliefs of nodes whose reports were read use links; those of `no-links`
/// are what features and training labels give without any report.
pub struct PredictBeliefs;

/// Predicts the most frequent class among the training nodes, for every node.
pub struct PredictMajority;

impl Stage for PredictBeliefs {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "beliefs";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (Nodes, Labels, ClassBeliefs);
    type Outputs = (Predictions, Curves);
    type Error = Invalid;

    fn run(
        (nodes, labels, beliefs): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Invalid> {
        if beliefs.n_nodes() != nodes.splits.len() || beliefs.n_classes() != labels.n_classes() {
            let (n, classes) = (beliefs.n_nodes(), beliefs.n_classes());
            return Err(Invalid(format!("there are beliefs about {n} nodes and {classes} classes of another graph")));
        }
        let probabilities = beliefs.probabilities().to_vec();
        Ok(of_one_model("beliefs", probabilities, &Validation::of(&nodes, &labels)))
    }
}

impl Stage for PredictMajority {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "majority";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (Nodes, Labels);
    type Outputs = (Predictions, Curves);
    type Error = Invalid;

    fn run((nodes, labels): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Invalid> {
        // One node more of each class keeps every probability above 0.
        let mut counts = vec![1.0_f32; labels.n_classes()];
        for class in nodes.members(Split::Train).into_iter().filter_map(|node| labels.class(node)) {
            counts[usize::from(class)] += 1.0;
        }
        let total: f32 = counts.iter().sum();
        let row: Vec<f32> = counts.iter().map(|count| count / total).collect();
        let probabilities = std::iter::repeat_n(row, nodes.splits.len()).flatten().collect();
        Ok(of_one_model("majority", probabilities, &Validation::of(&nodes, &labels)))
    }
}

/// The predictions and the losses of the only model.
fn of_one_model(setting: &str, probabilities: Vec<f32>, validation: &Validation) -> (Predictions, Curves) {
    let mut curves = Curves::default();
    validation.record(0, &probabilities, &mut curves);
    let models = vec![ModelPredictions { model: 0, probabilities }];
    (Predictions { n_classes: validation.n_classes, settings: vec![setting.to_owned()], models }, curves)
}

/// The validation nodes with their classes.
pub(crate) struct Validation {
    n_classes: usize,
    classes: Vec<(u32, u16)>,
}

impl Validation {
    /// The validation nodes that have a label.
    pub(crate) fn of(nodes: &Nodes, labels: &Labels) -> Self {
        Self { n_classes: labels.n_classes(), classes: labels.of_nodes(&nodes.members(Split::Validation)) }
    }

    /// Mean cross-entropy of these probabilities in nats; 0 without validation nodes.
    ///
    /// # Shapes
    /// `probabilities`: `[n_nodes, n_classes]`, row-major.
    pub(crate) fn loss(&self, probabilities: &[f32]) -> f64 {
        let of = |&(node, class): &(u32, u16)| {
            let probability = probabilities[node as usize * self.n_classes + usize::from(class)];
            -libm::log(f64::from(probability.max(f32::MIN_POSITIVE)))
        };
        self.classes.iter().map(of).sum::<f64>() / self.classes.len().max(1) as f64
    }

    /// Adds the loss and the accuracy of `model` as its only epoch.
    pub(crate) fn record(&self, model: u32, probabilities: &[f32], curves: &mut Curves) {
        let predicted = ModelPredictions { model, probabilities: probabilities.to_vec() }.classes(self.n_classes);
        let correct = self.classes.iter().filter(|&&(node, class)| predicted[node as usize] == class).count();
        let loss = self.loss(probabilities);
        curves.model.push(model);
        curves.epoch.push(0);
        // Nothing was minimized over training nodes.
        curves.train_loss.push(f64::NAN);
        curves.validation_loss.push(loss);
        curves.validation_accuracy.push(correct as f64 / self.classes.len().max(1) as f64);
    }
}
