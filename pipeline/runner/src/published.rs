//! What others published: scores, and the hyperparameters with which they were found.

use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Published figures of one folder (`--published`).
#[derive(Clone, Debug, Default)]
pub struct Published {
    settings: Vec<Setting>,
    scores: Vec<Score>,
}

/// Hyperparameters that a study chose for one cell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Setting {
    method: String,
    variant_or_baseline: String,
    dataset: String,
    model: String,
    eps: f64,
    pub dropout: f64,
    pub lr: Option<f64>,
    pub weight_decay: f64,
    /// `degree_fraction`.
    pub delta: Option<f64>,
    /// Of Solitude: learning rates of network and links, prices of deviation and size.
    pub lr_theta: Option<f64>,
    pub lr_adj: Option<f64>,
    pub lam1: Option<f64>,
    pub lam2: Option<f64>,
}

/// One published score, with the standard deviation over trials.
#[derive(Clone, Debug)]
struct Score {
    cell: PublishedCell,
    metric: &'static str,
    mean: f64,
    standard_deviation: f64,
}

/// What a score is about. An empty text or no fraction stands for any.
#[derive(Clone, Debug, Default)]
pub struct PublishedCell {
    /// Name of the dataset.
    pub dataset: String,
    /// Name of the mechanism.
    pub mechanism: String,
    /// Kind of the graph: hard, soft, hybrid, given or learned.
    pub variant: String,
    /// Name of the network.
    pub model: String,
    /// Budget, in nats.
    pub epsilon: f64,
    /// Share of the budget for degrees.
    pub degree_fraction: Option<f64>,
}

#[derive(Deserialize)]
struct AccuracyRow {
    method: String,
    variant_or_baseline: String,
    dataset: String,
    model: String,
    eps: f64,
    mean: f64,
    std: f64,
}

#[derive(Deserialize)]
struct MaeRow {
    method: String,
    dataset: String,
    eps: f64,
    mae_mean: f64,
    mae_std: f64,
}

#[derive(Deserialize)]
struct DensityRow {
    dataset: String,
    eps: f64,
    ahat_l1_mean: f64,
    ahat_l1_std: f64,
    tp_mean: f64,
    tp_std: f64,
}

#[derive(Deserialize)]
struct FractionRow {
    variant: String,
    dataset: String,
    model: String,
    eps: f64,
    delta: f64,
    acc_mean: f64,
    acc_std: f64,
}

#[derive(Deserialize)]
struct AblationRow {
    dataset: String,
    eps: f64,
    ablation: String,
    delta: String,
    mae_mean: f64,
    mae_std: f64,
}

/// Mechanism and variant by the names of the authors' files; none for what is not compared.
fn named(method: &str, variant_or_baseline: &str, model: &str, epsilon: f64) -> Option<(&'static str, String)> {
    Some(match (method, variant_or_baseline) {
        // Without privacy their rows stand under `blink` or `nonprivate`, and the perceptron's are among them.
        _ if epsilon.is_infinite() && model == "mlp" => ("no-links", "given".to_owned()),
        _ if epsilon.is_infinite() => ("non-private", "given".to_owned()),
        ("blink", variant) => ("blink", variant.to_owned()),
        ("baseline", "rr") => ("rr", "given".to_owned()),
        ("baseline", "symrr") => ("symrr", "given".to_owned()),
        ("baseline", "ldpgcn") => ("l-dpgcn", "given".to_owned()),
        ("baseline", "dprr") => ("dprr", "given".to_owned()),
        ("baseline", "ldpgen") => ("ldpgen", "given".to_owned()),
        ("baseline", "solitude") => ("solitude", "learned".to_owned()),
        _ => return None,
    })
}

impl Published {
    /// The files of a folder; those that are absent are passed over.
    ///
    /// # Errors
    /// When there is no such folder or nothing published in it, a file cannot be read, or a row is wrong: the message names file and row.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        anyhow::ensure!(folder.is_dir(), "{}: no such folder; name one with published_*.csv", folder.display());
        let settings: Vec<Setting> = rows(folder, "published_best_hp.csv")?;
        let mut scores = Vec::new();
        let mut add = |cell: PublishedCell, metric, mean, standard_deviation| {
            scores.push(Score { cell, metric, mean, standard_deviation });
        };
        for row in rows::<AccuracyRow>(folder, "published_accuracy.csv")? {
            let AccuracyRow { method, variant_or_baseline, dataset, model, eps, mean, std } = row;
            let Some((mechanism, variant)) = named(&method, &variant_or_baseline, &model, eps) else { continue };
            // A perceptron sends nothing, hence spends nothing.
            let epsilon = if mechanism == "no-links" { 0.0 } else { eps };
            let mechanism = mechanism.to_owned();
            add(
                PublishedCell { dataset, mechanism, variant, model, epsilon, degree_fraction: None },
                "accuracy",
                mean,
                std,
            );
        }
        for row in rows::<MaeRow>(folder, "published_mae.csv")? {
            let method = if row.method == "blink" { "blink" } else { "baseline" };
            let Some((mechanism, _)) = named(method, &row.method, "", row.eps) else { continue };
            let metric = if mechanism == "blink" { "mae" } else { "graph_mae" };
            let fraction = (mechanism == "blink").then_some(0.1);
            let cell = PublishedCell {
                dataset: row.dataset,
                mechanism: mechanism.into(),
                epsilon: row.eps,
                ..PublishedCell::default()
            };
            add(PublishedCell { degree_fraction: fraction, ..cell }, metric, row.mae_mean, row.mae_std);
        }
        for row in rows::<DensityRow>(folder, "published_density.csv")? {
            let cell = PublishedCell {
                mechanism: "blink".into(),
                variant: "hard".into(),
                epsilon: row.eps,
                ..PublishedCell::default()
            };
            let cell = PublishedCell { dataset: row.dataset, degree_fraction: Some(0.1), ..cell };
            add(cell.clone(), "graph_entries", row.ahat_l1_mean, row.ahat_l1_std);
            add(cell, "graph_true_positives", row.tp_mean, row.tp_std);
        }
        for row in rows::<FractionRow>(folder, "published_delta.csv")? {
            let FractionRow { variant, dataset, model, eps, delta, acc_mean, acc_std } = row;
            let cell = PublishedCell {
                dataset,
                mechanism: "blink".into(),
                variant,
                model,
                epsilon: eps,
                ..PublishedCell::default()
            };
            add(PublishedCell { degree_fraction: Some(delta), ..cell }, "accuracy", acc_mean, acc_std);
        }
        for row in rows::<AblationRow>(folder, "published_ablation.csv")? {
            let fraction = if row.ablation == "evidence" { Some(0.0) } else { row.delta.parse().ok() };
            let cell = PublishedCell {
                dataset: row.dataset,
                mechanism: "blink".into(),
                epsilon: row.eps,
                ..PublishedCell::default()
            };
            add(PublishedCell { degree_fraction: fraction, ..cell }, "mae", row.mae_mean, row.mae_std);
        }
        anyhow::ensure!(
            !scores.is_empty() || !settings.is_empty(),
            "{}: holds no published_*.csv; name the folder of the published figures",
            folder.display()
        );
        Ok(Self { settings, scores })
    }

    /// Mean and standard deviation of a score of this cell, if somebody published one. An accuracy at a certain
    /// fraction is not compared with one at whatever fraction was best.
    #[must_use]
    pub fn score(&self, cell: &PublishedCell, metric: &str) -> Option<(f64, f64)> {
        let fits = |theirs: &str, ours: &str| theirs.is_empty() || theirs == ours;
        let same = |score: &&Score| {
            score.metric == metric
                && score.cell.dataset == cell.dataset
                && score.cell.mechanism == cell.mechanism
                && score.cell.epsilon == cell.epsilon
                && fits(&score.cell.variant, &cell.variant)
                && fits(&score.cell.model, &cell.model)
        };
        let mine = || self.scores.iter().filter(same);
        let exact = mine().find(|score| {
            score.cell.degree_fraction.zip(cell.degree_fraction).is_some_and(|(a, b)| (a - b).abs() < 1e-9)
        });
        let is_any_wanted = metric != "accuracy" || cell.degree_fraction.is_none();
        let any = || mine().find(|score| is_any_wanted && score.cell.degree_fraction.is_none());
        exact.or_else(any).map(|score| (score.mean, score.standard_deviation))
    }

    /// The hyperparameters that were chosen for this cell.
    pub(crate) fn setting(&self, cell: &PublishedCell) -> Option<&Setting> {
        self.settings.iter().find(|setting| {
            let Setting { method, variant_or_baseline, model, eps, .. } = setting;
            named(method, variant_or_baseline, model, *eps).is_some_and(|(mechanism, variant)| {
                mechanism == cell.mechanism
                    && setting.dataset == cell.dataset
                    && *model == cell.model
                    && (variant == cell.variant || cell.variant.is_empty())
                    && (*eps == cell.epsilon || eps.is_infinite())
            })
        })
    }
}

fn rows<R: DeserializeOwned>(folder: &Path, name: &str) -> anyhow::Result<Vec<R>> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let wrong = || format!("{}: not a table of published figures", path.display());
    let mut reader = csv::Reader::from_path(&path).with_context(wrong)?;
    reader.deserialize().collect::<Result<_, _>>().with_context(wrong)
}
