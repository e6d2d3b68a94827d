//! The one list of scores: name, heading, unit, digits, and which direction is better.

mod score_table;

pub use score_table::ScoreTable;

/// A kind of score.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// Name in artifacts, JSON and figures.
    pub name: &'static str,
    /// Heading of its column in tables, and label of its axis in figures.
    pub heading: &'static str,
    /// Which table it belongs to.
    pub table: ScoreTable,
    /// Its unit.
    pub unit: Unit,
    /// How it is written.
    pub digits: Digits,
    /// Which direction is better.
    pub better: Better,
    /// Whether the printed tables show it; all artifacts hold it.
    pub is_printed: bool,
}

/// What one unit of a score is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number without unit: an error, an area, a share that tables print as a share.
    One,
    /// A share that tables and figures print in per cent.
    Percent,
    /// Nats.
    Nats,
    /// Entries of the adjacency matrix: links counted in both directions.
    Entries,
    /// Nodes.
    Nodes,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// With this many digits after the point.
    Fixed(usize),
    /// With a power of ten.
    Scientific,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: the score describes.
    Neither,
}

impl Unit {
    /// What a stored score is multiplied by before it is printed or drawn.
    #[must_use]
    pub fn factor(self) -> f64 {
        if self == Self::Percent { 100.0 } else { 1.0 }
    }

    /// The unit of what is printed or drawn; `1` for what has none.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Percent => "per cent",
            Self::Nats => "nats",
            Self::Entries => "entries",
            Self::Nodes => "nodes",
        }
    }
}

impl Metric {
    /// The least and the largest value that there can be, as tables write it.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        let is_share = ["auc", "precision", "recall", "f1", "tpr"].iter().any(|part| self.name.contains(part));
        match self.unit {
            Unit::Percent => (0.0, 100.0),
            Unit::One if is_share => (0.0, 1.0),
            _ => (0.0, f64::INFINITY),
        }
    }

    /// A stored `value` as tables write it.
    #[must_use]
    pub fn written(&self, value: f64) -> String {
        let value = value * self.unit.factor();
        match self.digits {
            Digits::Fixed(digits) => format!("{value:.digits$}"),
            Digits::Scientific => format!("{value:.3e}"),
        }
    }
}

/// The metric called `name`.
#[must_use]
pub fn named(name: &str) -> Option<&'static Metric> {
    METRICS.into_iter().find(|metric| metric.name == name)
}

macro_rules! metrics {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $heading:literal, $table:ident, $unit:ident, $digits:expr, $better:ident, $printed:literal;)*) => {
        $($(#[$doc])* pub const $constant: Metric = Metric {
            name: $name, heading: $heading, table: ScoreTable::$table, unit: Unit::$unit, digits: $digits,
            better: Better::$better, is_printed: $printed,
        };)*
        /// Every metric, in the order of the tables.
        pub const METRICS: [&Metric; [$(stringify!($constant)),*].len()] = [$(&$constant),*];
    };
}

use Digits::{Fixed, Scientific};
metrics! {
    /// Mean absolute error of link probabilities over all n² entries (Blink, section 5.2).
    MAE = "mae", "MAE", Links, One, Scientific, Lower, true;
    /// Bound on the mean absolute error (Blink, theorem 4.4).
    MAE_BOUND = "mae_bound", "bound (T4.4)", Links, One, Scientific, Neither, true;
    /// Mean absolute error that the posterior itself expects.
    EXPECTED_MAE = "expected_mae", "expected MAE", Links, One, Scientific, Neither, false;
    /// Sum of all link probabilities, in both directions.
    EXPECTED_ENTRIES = "expected_entries", "expected entries", Links, Entries, Fixed(0), Neither, false;
    /// Number of true links, in both directions.
    TRUE_ENTRIES = "true_entries", "true entries", Links, Entries, Fixed(0), Neither, false;
    /// Sum of all link probabilities, divided by the number of true links. It is 1 where as many links are expected as
    /// there are, above 1 where they are too many and below 1 where they are too few.
    EXPECTED_LINK_RATIO = "expected_link_ratio", "expected / true links", Links, One, Fixed(4), Neither, false;
    /// Mean absolute error of the belief that there is no link at all: the floor of every such error. The Brier score and the
    /// expected calibration error of that belief are the same number.
    EMPTY_GRAPH_MAE = "empty_graph_mae", "MAE of no links", Links, One, Scientific, Neither, false;
    /// Average precision of pairs in a random order, which is the share of pairs that are linked: the floor of every average
    /// precision.
    CHANCE_AVERAGE_PRECISION = "chance_average_precision", "average precision of chance", Links, One, Scientific, Neither, false;
    /// Average precision of link probabilities over all pairs.
    AVERAGE_PRECISION = "average_precision", "average precision", Links, One, Fixed(4), Higher, true;
    /// Area under the ROC curve of link probabilities over all pairs.
    ROC_AUC = "roc_auc", "ROC AUC", Links, One, Fixed(4), Higher, true;
    /// Log loss of link probabilities over all pairs, divided by the number of links.
    LOG_LOSS_PER_LINK = "log_loss_per_link", "log loss / link", Links, Nats, Fixed(3), Lower, true;
    /// Sum over all pairs of the squared errors of link probabilities, divided by the number of links (Brier 1950). It is 1
    /// where no pair is believed to be linked.
    BRIER_PER_LINK = "brier_per_link", "Brier / link", Links, One, Fixed(3), Lower, false;
    /// How many links too many or too few are expected among the pairs of about equal probabilities, summed over intervals
    /// of probabilities and divided by the number of links.
    CALIBRATION_ERROR = "calibration_error", "calibration error", Links, One, Fixed(3), Lower, false;
    /// Mean of the squared errors of link probabilities over all n² entries (Brier 1950).
    BRIER = "brier", "Brier", Links, One, Scientific, Lower, false;
    /// Expected calibration error over all n² entries: the share of entries that are expected too many or too few among
    /// those of about equal probabilities, summed over ten equal intervals of probabilities. The belief that there is no
    /// link at all has [`EMPTY_GRAPH_MAE`].
    EXPECTED_CALIBRATION_ERROR = "expected_calibration_error", "expected calibration error", Links, One, Scientific, Lower, false;
    /// How far the expected degrees are from those that the prior was fitted to.
    PRIOR_RESIDUAL = "prior_residual", "prior residual", Links, One, Scientific, Neither, false;
    /// Number of nodes.
    N_NODES = "n_nodes", "nodes", Links, Nodes, Fixed(0), Neither, false;
    /// Links that the graph keeps, in both directions.
    GRAPH_ENTRIES = "graph_entries", "entries", Graph, Entries, Fixed(0), Neither, true;
    /// Those of the kept links that are true.
    GRAPH_TRUE_POSITIVES = "graph_true_positives", "true positives", Graph, Entries, Fixed(0), Higher, true;
    /// Share of the kept links that are true.
    GRAPH_PRECISION = "graph_precision", "precision", Graph, One, Fixed(3), Higher, true;
    /// Share of the true links that are kept.
    GRAPH_RECALL = "graph_recall", "recall", Graph, One, Fixed(3), Higher, true;
    /// Mean absolute error of the weights of the graph over all n² entries.
    GRAPH_MAE = "graph_mae", "MAE", Graph, One, Scientific, Lower, true;
    /// Mean absolute error of estimated features over all nodes and features.
    FEATURE_MAE = "feature_mae", "feature MAE", Features, One, Scientific, Lower, true;
    /// Mean absolute error of the graph convolution of estimated features (PGC, section 5).
    CONVOLUTION_MAE = "convolution_mae", "convolution MAE", Features, One, Scientific, Lower, true;
    /// Share of test nodes classified correctly (micro-F1).
    ACCURACY = "accuracy", "accuracy %", Classes, Percent, Fixed(1), Higher, true;
    /// Unweighted mean over classes of the harmonic mean of precision and recall.
    MACRO_F1 = "macro_f1", "macro F1 %", Classes, Percent, Fixed(1), Higher, true;
    /// Mean cross-entropy of test nodes.
    LOG_LOSS = "log_loss", "log loss", Classes, Nats, Fixed(3), Lower, false;
    /// Mean over test nodes of the squared errors of class probabilities, summed over classes (Brier 1950): from 0 to 2.
    CLASS_BRIER = "class_brier", "Brier of classes", Classes, One, Fixed(3), Lower, false;
    /// Expected calibration error of the probabilities of the predicted classes, over ten equal intervals.
    CLASS_CALIBRATION = "class_expected_calibration_error", "calibration error of classes", Classes, One, Fixed(3), Lower, false;
    /// Lowest mean cross-entropy of validation nodes, by which the setting was chosen.
    VALIDATION_LOSS = "validation_loss", "validation loss", Classes, Nats, Fixed(3), Lower, true;
    /// Share of test nodes in their most frequent class: the accuracy of a constant answer.
    MAJORITY_ACCURACY = "majority_accuracy", "majority %", Classes, Percent, Fixed(1), Neither, false;
    /// Number of test nodes, on which the other scores of classes rest.
    TEST_NODES = "test_nodes", "test nodes", Classes, Nodes, Fixed(0), Neither, false;
    /// Area under the ROC curve of the inner products of held-out pairs.
    LINK_PREDICTION_AUC = "link_prediction_auc", "ROC AUC", LinkPrediction, One, Fixed(4), Higher, true;
    /// Average precision of the inner products of held-out pairs.
    LINK_PREDICTION_AVERAGE_PRECISION = "link_prediction_average_precision", "average precision", LinkPrediction, One, Fixed(4), Higher, true;
    /// Area under the ROC curve of an attack.
    ATTACK_AUC = "attack_auc", "ROC AUC", Attacks, One, Fixed(4), Lower, true;
    /// The largest such area that reports about a fact itself allow; features, and reports about other facts, can add to it.
    ATTACK_AUC_CAP = "attack_auc_cap", "AUC cap", Attacks, One, Fixed(4), Neither, true;
    /// Average precision of an attack.
    ATTACK_AVERAGE_PRECISION = "attack_average_precision", "average precision", Attacks, One, Fixed(4), Lower, true;
    /// Share of true facts that an attack finds while it takes one in 10,000 others for true.
    ATTACK_TPR_AT_1E_4 = "attack_tpr_at_fpr_0.0001", "TPR at FPR 0.01 %", Attacks, One, Fixed(4), Lower, false;
    /// Share of true facts that an attack finds while it takes 3 in 10,000 others for true.
    ATTACK_TPR_AT_3E_4 = "attack_tpr_at_fpr_0.0003", "TPR at FPR 0.03 %", Attacks, One, Fixed(4), Lower, false;
    /// Share of true facts that an attack finds while it takes one in 1,000 others for true.
    ATTACK_TPR_AT_1E_3 = "attack_tpr_at_fpr_0.001", "TPR at FPR 0.1 %", Attacks, One, Fixed(4), Lower, true;
    /// Lower end of its interval of 95 % (Clopper, Pearson), as if facts were independent of each other.
    ATTACK_TPR_AT_1E_3_LOW = "attack_tpr_at_fpr_0.001_low", "low", Attacks, One, Fixed(4), Neither, false;
    /// Upper end of its interval.
    ATTACK_TPR_AT_1E_3_HIGH = "attack_tpr_at_fpr_0.001_high", "high", Attacks, One, Fixed(4), Neither, false;
    /// The largest such share that reports about a fact itself allow; features, and reports about other facts, can add to it.
    ATTACK_TPR_AT_1E_3_CAP = "attack_tpr_at_fpr_0.001_cap", "TPR cap", Attacks, One, Fixed(4), Neither, true;
    /// Share of true facts that an attack finds while it takes 3 in 1,000 others for true.
    ATTACK_TPR_AT_3E_3 = "attack_tpr_at_fpr_0.003", "TPR at FPR 0.3 %", Attacks, One, Fixed(4), Lower, false;
    /// Share of true facts that an attack finds while it takes one in 100 others for true.
    ATTACK_TPR_AT_1E_2 = "attack_tpr_at_fpr_0.01", "TPR at FPR 1 %", Attacks, One, Fixed(4), Lower, true;
    /// Lower end of its interval of 95 %.
    ATTACK_TPR_AT_1E_2_LOW = "attack_tpr_at_fpr_0.01_low", "low", Attacks, One, Fixed(4), Neither, false;
    /// Upper end of its interval.
    ATTACK_TPR_AT_1E_2_HIGH = "attack_tpr_at_fpr_0.01_high", "high", Attacks, One, Fixed(4), Neither, false;
    /// Share of true facts that an attack finds while it takes 3 in 100 others for true.
    ATTACK_TPR_AT_3E_2 = "attack_tpr_at_fpr_0.03", "TPR at FPR 3 %", Attacks, One, Fixed(4), Lower, false;
    /// Share of true facts that an attack finds while it takes one in 10 others for true.
    ATTACK_TPR_AT_1E_1 = "attack_tpr_at_fpr_0.1", "TPR at FPR 10 %", Attacks, One, Fixed(4), Lower, false;
    /// Share of true facts that an attack finds while it takes 3 in 10 others for true.
    ATTACK_TPR_AT_3E_1 = "attack_tpr_at_fpr_0.3", "TPR at FPR 30 %", Attacks, One, Fixed(4), Lower, false;
    /// Facts among the attacked ones that are true: links, members, features above their mean, classes.
    ATTACK_LINKS = "attack_links", "true", Attacks, One, Fixed(0), Neither, true;
    /// Facts that are attacked.
    ATTACK_PAIRS = "attack_pairs", "pairs", Attacks, One, Fixed(0), Neither, false;
    /// Share of the claimed pairs that are links.
    ATTACK_PRECISION = "attack_precision", "precision", Claims, One, Fixed(3), Lower, true;
    /// Share of the links that are claimed.
    ATTACK_RECALL = "attack_recall", "recall", Claims, One, Fixed(3), Lower, true;
    /// Harmonic mean of both.
    ATTACK_F1 = "attack_f1", "F1", Claims, One, Fixed(3), Lower, true;
    /// The least cost that right guesses about canaries leave possible.
    EPSILON_LOWER_BOUND = "epsilon_lower_bound", "lower bound", Canaries, Nats, Fixed(3), Neither, true;
    /// The same if all of these guesses had been right.
    EPSILON_CEILING = "epsilon_lower_bound_ceiling", "ceiling", Canaries, Nats, Fixed(3), Neither, true;
    /// How sure the lower bound is.
    CANARY_CONFIDENCE = "canary_confidence", "confidence %", Canaries, Percent, Fixed(0), Neither, true;
    /// Facts that fair coins decided.
    CANARIES = "canaries", "canaries", Canaries, One, Fixed(0), Neither, true;
    /// Coins that were guessed.
    CANARY_GUESSES = "canary_guesses", "guesses", Canaries, One, Fixed(0), Neither, true;
    /// Coins that were guessed right.
    CANARY_RIGHT = "canary_right_guesses", "right", Canaries, One, Fixed(0), Neither, true;
}

/// The shares of other facts at which a ROC curve is drawn, each with the share of true facts that is found there.
pub const ROC_CURVE: [(f64, &Metric); 8] = [
    (1e-4, &ATTACK_TPR_AT_1E_4),
    (3e-4, &ATTACK_TPR_AT_3E_4),
    (1e-3, &ATTACK_TPR_AT_1E_3),
    (3e-3, &ATTACK_TPR_AT_3E_3),
    (1e-2, &ATTACK_TPR_AT_1E_2),
    (3e-2, &ATTACK_TPR_AT_3E_2),
    (1e-1, &ATTACK_TPR_AT_1E_1),
    (3e-1, &ATTACK_TPR_AT_3E_1),
];
