use veilgraph_contract::{Artifact, Facts, Randomness, Relation};
use veilgraph_graph::{DenseMatrix, Embeddings, FeatureMatrix, LinkSample, ModelPredictions, SparseMatrix};
use veilgraph_posterior::LinkEvidence;
use veilgraph_privacy::{Budget, DegreeNoise, ReportFacts};

use super::*;

fn truth() -> AdjacencyList {
    AdjacencyList::from_pairs(12, (0..10).map(|i| (i, (i * 3 + 1) % 10))).expect("valid")
}

/// Claims that mostly tell the truth, with ties among the probabilities.
fn posterior(epsilon_links: f64) -> Posterior {
    let truth = truth();
    let rows = (0..12_u32).map(|i| {
        (i + 1..12)
            .filter_map(|j| {
                let claims = u8::from(truth.contains(i as usize, j)) + u8::from((i * 5 + j * 3) % 4 == 0);
                (claims > 0).then_some((j, claims))
            })
            .collect()
    });
    let beta = (0..12).map(|i| -1.5 + 0.5 * f64::from(i % 3)).collect();
    let model = LinkModel { degrees: vec![1.0; 12], beta, epsilon_links, ..LinkModel::default() };
    Posterior::new(&model, LinkEvidence::from_rows(rows).expect("valid")).expect("same size")
}

/// Whoever is certain and wrong has no finite log loss, and is not taken for somebody who is right.
#[test]
fn certainty_that_is_wrong_has_an_infinite_log_loss() {
    let log_loss = |claims: Vec<Vec<(u32, u8)>>| {
        let model = LinkModel {
            degrees: vec![1.0; 3],
            beta: vec![-1.0; 3],
            epsilon_links: f64::INFINITY,
            ..LinkModel::default()
        };
        let posterior = Posterior::new(&model, LinkEvidence::from_rows(claims).expect("valid")).expect("same size");
        let truth = AdjacencyList::from_pairs(3, [(0, 1)]).expect("valid");
        let scores = links::link_error(&posterior, &truth, None);
        scores.into_iter().find(|(metric, _)| metric.name == "log_loss_per_link").expect("a score").1
    };
    assert_eq!(log_loss(vec![vec![(1, 2)], vec![], vec![]]), 0.0);
    assert_eq!(log_loss(vec![vec![], vec![], vec![]]), f64::INFINITY, "a link that nobody claims");
    assert_eq!(log_loss(vec![vec![(1, 2), (2, 2)], vec![], vec![]]), f64::INFINITY, "a claim that is no link");
    // One claim of two says nothing without noise, so the pair has its prior log odds, -2.
    let doubt = log_loss(vec![vec![(1, 2)], vec![(2, 1)], vec![]]);
    assert!((doubt - (-2.0_f64).exp().ln_1p()).abs() < 1e-15, "{doubt}");
}

/// Every score once more, over all pairs, by its definition.
#[test]
fn link_scores_equal_their_definitions() {
    let truth = truth();
    for epsilon in [0.2, 1.0, 4.0, 400.0, f64::INFINITY] {
        let posterior = posterior(epsilon);
        let mut pairs = Vec::new();
        for i in 0..12_u32 {
            for j in i + 1..12 {
                pairs.push((posterior.probability(i, j), truth.contains(i as usize, j)));
            }
        }
        let links = pairs.iter().filter(|pair| pair.1).count() as f64;
        let error: f64 = pairs.iter().map(|&(p, link)| if link { 1.0 - p } else { p }).sum();
        let expected: f64 = pairs.iter().map(|&(p, _)| 2.0 * p * (1.0 - p)).sum();
        let loss: f64 = pairs.iter().map(|&(p, link)| -if link { p } else { 1.0 - p }.ln()).sum();
        let mut thresholds: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
        thresholds.sort_by(|a, b| b.total_cmp(a));
        thresholds.dedup();
        let mut precision = 0.0;
        let mut before = 0.0;
        for threshold in thresholds {
            let hits = pairs.iter().filter(|pair| pair.0 >= threshold && pair.1).count() as f64;
            let all = pairs.iter().filter(|pair| pair.0 >= threshold).count() as f64;
            precision += (hits - before) / links * hits / all;
            before = hits;
        }
        let mut wins = 0.0;
        for a in pairs.iter().filter(|pair| pair.1) {
            for b in pairs.iter().filter(|pair| !pair.1) {
                wins += if a.0 > b.0 {
                    1.0
                } else if a.0 == b.0 {
                    0.5
                } else {
                    0.0
                };
            }
        }
        let truth_of = |link: bool| f64::from(u8::from(link));
        let squares: f64 = pairs.iter().map(|&(p, link)| (p - truth_of(link)).powi(2)).sum();
        let ends = [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0 + 1e-9];
        let excess = |ends: &[f64]| -> f64 {
            let inside = pairs.iter().filter(|pair| (ends[0]..ends[1]).contains(&pair.0));
            inside.map(|&(p, link)| p - truth_of(link)).sum()
        };
        let calibration: f64 = ends.windows(2).map(|ends| excess(ends).abs()).sum();
        let tenths: Vec<f64> =
            (0..=10).map(|tenth| if tenth < 10 { f64::from(tenth) / 10.0 } else { 1.0 + 1e-9 }).collect();
        let of_tenths: f64 = tenths.windows(2).map(|ends| excess(ends).abs()).sum();
        let by_definition = [
            ("mae", 2.0 * error / 144.0),
            ("expected_mae", 2.0 * expected / 144.0),
            ("expected_entries", 2.0 * pairs.iter().map(|pair| pair.0).sum::<f64>()),
            ("expected_link_ratio", pairs.iter().map(|pair| pair.0).sum::<f64>() / links),
            ("average_precision", precision),
            ("roc_auc", wins / (links * (pairs.len() as f64 - links))),
            ("log_loss_per_link", loss / links),
            ("brier_per_link", squares / links),
            ("calibration_error", calibration / links),
            // Every pair stands for two of the n² entries, and the diagonal is believed and true to have no link.
            ("brier", 2.0 * squares / 144.0),
            ("expected_calibration_error", 2.0 * of_tenths / 144.0),
        ];
        let found = links::link_error(&posterior, &truth, Some(0.4));
        let score = |name: &str| found.iter().find(|score| score.0.name == name).expect(name).1;
        let from_links = score("brier_per_link") * score("true_entries") / 144.0;
        assert!((score("brier") - from_links).abs() < 1e-14, "{} {from_links}", score("brier"));
        for (name, expected) in by_definition {
            let value = score(name);
            assert!((value - expected).abs() < 1e-10 * (1.0 + expected), "ε {epsilon}, {name}: {value} {expected}");
        }
    }
}

/// Who believes in no link at all is wrong by the square of each true one, and expects them all too few.
#[test]
fn the_empty_graph_has_one_number_for_three_scores() {
    let truth = truth();
    let model = LinkModel { degrees: vec![0.0; 12], beta: vec![-30.0; 12], ..LinkModel::default() };
    let posterior =
        Posterior::new(&model, LinkEvidence::from_rows(vec![Vec::new(); 12]).expect("valid")).expect("same size");
    let found = links::link_error(&posterior, &truth, None);
    let score = |name: &str| found.iter().find(|score| score.0.name == name).expect(name).1;
    let floor = score("empty_graph_mae");
    for name in ["mae", "brier", "expected_calibration_error"] {
        assert!((score(name) - floor).abs() < 1e-12, "{name}: {} {floor}", score(name));
    }
}

/// The bound that the paper plots for Cora at ε = 1 (`published_mae.csv`), whose graph has no isolated node.
#[test]
fn the_bound_is_the_published_one() {
    let links = 5278;
    let graph =
        AdjacencyList::from_pairs(2708, (0..2707).map(|i| (i, i + 1)).chain((0..links - 2707).map(|i| (i, i + 2))))
            .expect("valid");
    assert_eq!((graph.n_links(), graph.n_isolated()), (5278, 0));
    let model =
        LinkModel { degrees: vec![1.0; 2708], beta: vec![-3.0; 2708], epsilon_links: 0.9, ..LinkModel::default() };
    let posterior =
        Posterior::new(&model, LinkEvidence::from_rows(vec![Vec::new(); 2708]).expect("valid")).expect("same size");
    let scores = links::link_error(&posterior, &graph, Some(0.1));
    let bound = scores.iter().find(|score| score.0.name == "mae_bound").expect("degrees were sent").1;
    assert!((bound - 0.004_725_317_403).abs() < 1e-9, "{bound}");
    assert!(!links::link_error(&posterior, &graph, None).iter().any(|score| score.0.name == "mae_bound"));
}

/// Worked out by hand: (4 links + n / (2 ε) + isolated nodes (1 - (1 - e^-ε) / (2 ε))) / n².
#[test]
fn the_bound_counts_the_clipping_of_isolated_nodes() {
    let graph = AdjacencyList::from_pairs(4, [(0, 1)]).expect("valid");
    let model = LinkModel { degrees: vec![1.0; 4], beta: vec![-1.0; 4], epsilon_links: 1.0, ..LinkModel::default() };
    let evidence = LinkEvidence::from_rows(vec![Vec::new(); 4]).expect("valid");
    let posterior = Posterior::new(&model, evidence).expect("same size");
    for (epsilon_degree, expected) in [(0.5, 0.575_816_332), (2.0, 0.410_479_228), (f64::INFINITY, 0.375)] {
        let scores = links::link_error(&posterior, &graph, Some(epsilon_degree));
        let bound = scores.iter().find(|score| score.0.name == "mae_bound").expect("degrees were sent").1;
        assert!((bound - expected).abs() < 1e-8, "{epsilon_degree}: {bound}");
    }
}

/// The theorem is about the degrees that honest nodes reported, which the prior alone has exactly.
#[test]
fn the_bound_is_stated_where_the_theorem_holds() {
    let budget = Budget { links: 0.9, degree: 0.1 };
    let reports = |lying_share: f64, budget: Budget| {
        let facts = ReportFacts {
            mechanism: "blink".to_owned(),
            epsilon: budget.links + budget.degree,
            epsilon_edge: 2.0 * (budget.links + budget.degree),
            degree_fraction: 0.1,
            budget,
            degree_noise: DegreeNoise::DiscreteLaplace,
            randomness: Randomness::Seeded,
            nodes_from_links: false,
            lying_share,
        };
        NoisyDegrees::from_nodes(facts, &[-3.0, 1.0, 2.0, 3.0, 9.0].map(Some))
    };
    let plain = LinkModel { degrees: vec![1.0, 1.0, 2.0, 3.0, 3.0], beta: vec![0.0; 5], ..LinkModel::default() };
    assert!(links::theorem_holds(&plain, &reports(0.0, budget)));
    assert!(!links::theorem_holds(&plain, &reports(0.01, budget)), "some nodes lie");
    assert!(!links::theorem_holds(&plain, &reports(0.0, Budget { links: 1.0, degree: 0.0 })), "no degree was sent");
    let degrees = [Some(-3.0), None, Some(2.0), Some(3.0), Some(9.0)];
    let silent = NoisyDegrees::from_nodes(reports(0.0, budget).facts, &degrees);
    assert!(!links::theorem_holds(&plain, &silent), "a node is missing");
    for other in [
        LinkModel { ridge: 1.0, ..plain.clone() },
        LinkModel { fallback_ridge: 1e-3, ..plain.clone() },
        LinkModel { centred_ridge: Some(0.0), ..plain.clone() },
        LinkModel { bin_logits: vec![0.5], ..plain.clone() },
        LinkModel { degrees: vec![1.0, 1.0, 2.0, 2.5, 3.0], ..plain },
    ] {
        assert!(!links::theorem_holds(&other, &reports(0.0, budget)), "{other:?}");
    }
}

fn predictions(first: [f32; 2]) -> Predictions {
    let models = (0..2).map(|model| ModelPredictions {
        model,
        probabilities: if model == 0 { [first, [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]].concat() } else { vec![0.5; 8] },
    });
    Predictions { n_classes: 2, settings: vec!["a".into(), "b".into()], models: models.collect() }
}

#[test]
fn accuracy_and_macro_f1_are_the_textbook_ones() {
    let labels = Labels::new(2, vec![(0, 0), (1, 0), (2, 0), (3, 1)]).expect("valid");
    let scores = classes::score(&predictions([0.9, 0.1]), 0, &labels);
    assert!((scores.accuracy - 0.75).abs() < 1e-12);
    assert_eq!(classes::majority(&labels), 0.75);
    // Class 0: precision 1, recall 2/3; class 1: precision 1/2, recall 1.
    assert!((scores.macro_f1 - f64::midpoint(0.8, 2.0 / 3.0)).abs() < 1e-12);
}

/// Four nodes whose predicted classes have the probabilities 0.9, 0.8, 0.75 and 0.75, of which the last two share an
/// interval; the third is predicted wrongly.
#[test]
fn brier_score_and_calibration_error_of_classes_are_the_textbook_ones() {
    let labels = Labels::new(2, vec![(0, 0), (1, 0), (2, 0), (3, 1)]).expect("valid");
    let probabilities = [[0.9_f32, 0.1], [0.8, 0.2], [0.25, 0.75], [0.25, 0.75]].concat();
    let models = vec![ModelPredictions { model: 0, probabilities }];
    let scores = classes::score(&Predictions { n_classes: 2, settings: vec![String::new()], models }, 0, &labels);
    let brier = (2.0 * 0.1_f64.powi(2) + 2.0 * 0.2_f64.powi(2) + 2.0 * 0.75_f64.powi(2) + 2.0 * 0.25_f64.powi(2)) / 4.0;
    assert!((scores.brier - brier).abs() < 1e-7, "{}", scores.brier);
    // |0.9 − 1| + |0.8 − 1| + |(0.75 + 0.75) − (0 + 1)|, over four nodes.
    assert!((scores.expected_calibration_error - 0.8 / 4.0).abs() < 1e-7, "{}", scores.expected_calibration_error);
    let missing = classes::score(&predictions([0.9, 0.1]), 7, &labels);
    assert!(missing.brier.is_nan() && missing.expected_calibration_error.is_nan());
}

#[test]
fn the_setting_with_the_lowest_mean_loss_is_chosen() {
    let curve = |losses: [f64; 2]| Curves {
        model: vec![0, 0, 1],
        epoch: vec![0, 1, 0],
        validation_loss: vec![f64::NAN, losses[0], losses[1]],
        ..Curves::default()
    };
    let chosen = Curves::best(&[curve([0.5, 0.6]), curve([0.9, 0.7])], 2);
    assert_eq!(chosen.map(|(model, _)| model), Some(1), "0.65 is less than 0.7");
    let failed = Curves { model: vec![0], epoch: vec![0], validation_loss: vec![1.0], ..Curves::default() };
    let chosen = Curves::best(&[curve([9.0, 0.1]), failed], 2);
    assert_eq!(chosen.map(|(model, _)| model), Some(0), "model 1 failed in the second trial");
    // The lowest loss of model 0 is that of an epoch whose weights were not kept.
    let noisy = Curves {
        model: vec![0, 0, 1],
        epoch: vec![0, 1, 0],
        train_loss: vec![0.0; 3],
        validation_loss: vec![0.9, 0.6, 0.7],
        validation_accuracy: vec![0.0; 3],
        kept: [(0, 0)].into(),
        ..Curves::default()
    };
    let read = Curves::from_blocks(&noisy.facts(), &mut noisy.blocks()).expect("its own facts");
    assert_eq!(read, noisy);
    assert_eq!(Curves::best(&[read], 2), Some((1, vec![0.7])));
    for wrong in ["1", "a:1", "1:", "1:x"] {
        let facts = Facts::default().with("kept", wrong);
        let error = Curves::from_blocks(&facts, &mut noisy.blocks()).expect_err("no epoch").to_string();
        assert!(error.contains("no model with its epoch"), "{error}");
    }
}

#[test]
fn a_full_search_is_advised_only_where_settings_were_dropped() {
    let error = |dropped: &[u32]| {
        let curves = Curves { dropped: dropped.to_vec(), ..Curves::default() };
        let labels = HeldOut(Labels::new(2, vec![(0, 0)]).expect("valid"));
        let inputs = (labels, vec![predictions([0.9, 0.1])], vec![curves]);
        let params = Params { cell: Cell::default(), trial: 0 };
        let run = EvaluateClasses::run(inputs, &params, &StageRng::new(0, "evaluate", 0), &Progress::none());
        run.map(|_| ()).expect_err("no setting was trained").to_string()
    };
    assert!(error(&[1]).contains("search = \"full\""), "{}", error(&[1]));
    assert!(error(&[]).contains("in every trial") && !error(&[]).contains("full"), "{}", error(&[]));
}

/// Two links and two other pairs; one of the other pairs has the score of a link.
#[test]
fn held_out_links_are_told_by_inner_products() {
    let cell: Cell = serde_json::from_value(serde_json::json!({
        "experiment": "e", "dataset": "d", "alternative": "best", "mechanism": "m", "variant": "v", "model": "vgae",
        "epsilon": 1.0, "epsilon_edge": 1.0, "degree_fraction": 0.0, "choices": [], "costs": [],
    }))
    .expect("a cell");
    let params = Params { cell, trial: 0 };
    let run = |pairs: Vec<(u32, u32, bool)>| {
        let values = DenseMatrix::new(4, 1, vec![3.0, 2.0, 1.0, -1.0]).expect("finite");
        let inputs = (vec![HeldOut(LinkSample { n_nodes: 4, pairs })], vec![Embeddings(values)]);
        EvaluateLinkPrediction::run(inputs, &params, &StageRng::new(1, "evaluate", 0), &Progress::none())
    };
    let (metrics,) = run(vec![(0, 1, true), (1, 2, true), (1, 2, false), (0, 3, false)]).expect("both kinds");
    let found: Vec<(&str, f64)> = metrics.rows.iter().map(|row| (row.metric.as_str(), row.value)).collect();
    let precision = f64::midpoint(1.0, 2.0 / 3.0);
    assert_eq!(found, [("link_prediction_auc", 0.875), ("link_prediction_average_precision", precision)]);
    run(vec![(0, 1, true)]).map(|_| ()).expect_err("no other pair");
}

#[test]
fn metrics_survive_their_table() {
    let cost = RelationCost {
        relation: Relation::ListBit,
        epsilon: f64::INFINITY,
        dp_delta: 0.0,
        sound: true,
        claimed_epsilon: None,
    };
    let choice = |table: &str, name: &str, value: &str| Choice {
        field: format!("{table}.{name}"),
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let cell = Cell {
        experiment: "e".into(),
        dataset: "d".into(),
        alternative: "best".into(),
        mechanism: "blink".into(),
        variant: "hard".into(),
        model: "gcn".into(),
        epsilon: f64::INFINITY,
        epsilon_edge: f64::INFINITY,
        degree_fraction: 0.1,
        choices: vec![choice("train", "model", "gcn"), choice("train", "hidden", "16")],
        costs: vec![cost],
    };
    assert_eq!(cell.estimate(), "best, hidden-16", "the model has a column of its own");
    let mut metrics = Metrics { setting: "s".into(), ..Metrics::about(&cell) };
    metrics.push(0, &metric::MAE, 0.5);
    metrics.push(1, &metric::MAE, f64::NAN);
    assert_eq!(metrics.rows.len(), 1, "what is no number says nothing");
    assert_eq!(Metrics::from_blocks(&metrics.facts(), &mut metrics.blocks()).expect("round trip"), metrics);
}

#[test]
fn every_metric_has_a_name_of_its_own() {
    let mut names: Vec<&str> = metric::METRICS.iter().map(|metric| metric.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), metric::METRICS.len());
    assert_eq!(metric::named("accuracy"), Some(&metric::ACCURACY));
    assert_eq!(metric::ACCURACY.written(0.123_45), "12.3");
    assert_eq!(metric::MAE.written(0.123_45), "1.235e-1");
}

/// The convolution is compared with the sum over neighbours as it is printed, node by node.
#[test]
fn feature_errors_are_those_of_the_formula() {
    let links = truth();
    let features = SparseMatrix::from_rows(3, (0..12_u32).map(|node| vec![(node % 3, 1.0)])).expect("valid");
    let values: Vec<f32> = (0..36).map(|at| (at * 7 % 11) as f32 - 5.0).collect();
    let estimated = DenseMatrix::new(12, 3, values.clone()).expect("finite");
    let graph = WeightedGraph::undirected(Construction::Given, 12, links.links().map(|(i, j)| (i, j, 1.0)).collect());
    let inputs = (
        EstimatedFeatures::unpropagated(FeatureMatrix::Dense(estimated)),
        graph,
        None,
        None,
        Private(Features(features)),
    );
    let params = Params { cell: Cell::default(), trial: 0 };
    let run = EvaluateFeatures::run(inputs, &params, &StageRng::new(0, "evaluate", 0), &Progress::none());
    let (metrics,) = run.expect("scored");
    let score = |name: &str| metrics.rows.iter().find(|row| row.metric == name).expect("a score").value;
    let difference =
        |node: usize, column: usize| f64::from(values[node * 3 + column]) - if node % 3 == column { 1.0 } else { 0.0 };
    let degree = |node: usize| (links.degree(node) + 1) as f64;
    let (mut own, mut convolved) = (0.0, 0.0);
    for v in 0..12 {
        for column in 0..3 {
            own += difference(v, column).abs();
            let around = (0..12).filter(|&u| u == v || links.contains(u, v as u32));
            let sum: f64 = around.map(|u| difference(u, column) / (degree(u) * degree(v)).sqrt()).sum();
            convolved += sum.abs();
        }
    }
    assert!((score("feature_mae") - own / 36.0).abs() < 1e-6);
    assert!((score("convolution_mae") - convolved / 36.0).abs() < 1e-6);
}
