use proptest::prelude::*;
use veilgraph_graph::BitMatrix;
use veilgraph_posterior::LinkEvidence;

use super::*;

fn build(model: &LinkModel, evidence: &LinkEvidence, variant: Construction) -> Vec<(u32, u32, f32)> {
    build_more(model, evidence, variant, 1.0)
}

fn build_more(
    model: &LinkModel,
    evidence: &LinkEvidence,
    variant: Construction,
    edge_multiple: f64,
) -> Vec<(u32, u32, f32)> {
    let rng = StageRng::new(0, "construct", 0);
    let inputs = (model.clone(), evidence.clone());
    Construct::run(inputs, &Params { variant, edge_multiple }, &rng, &Progress::none()).expect("valid").0.links
}

/// The reference's dense code: all n² entries, k-th largest, ties kept.
fn dense(posterior: &Posterior, variant: Construction, multiple: f64) -> Vec<(u32, u32, f32)> {
    let n = posterior.n_nodes() as u32;
    let mut all = Vec::new();
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            all.push((i, j, posterior.probability(i, j)));
        }
    }
    let least = if variant == Construction::Hard {
        0.5
    } else {
        let mut entries: Vec<f64> = all.iter().map(|entry| entry.2).collect();
        let k = ((entries.iter().sum::<f64>() * multiple).floor() as usize).min(entries.len());
        entries.sort_by(|a, b| b.total_cmp(a));
        if k == 0 { f64::INFINITY } else { entries[k - 1] }
    };
    let upper = all.into_iter().filter(|&(i, j, _)| i < j);
    match variant {
        Construction::Hard => upper.filter(|entry| entry.2 > least).map(|(i, j, _)| (i, j, 1.0)).collect(),
        _ => upper.filter(|entry| entry.2 >= least).map(|(i, j, p)| (i, j, p as f32)).collect(),
    }
}

/// The same evidence in planes of bits.
fn planes(evidence: &LinkEvidence) -> LinkEvidence {
    let n = evidence.n_nodes();
    LinkEvidence::from_reports(BitMatrix::from_rows(n, |i, row| {
        for j in 0..n as u32 {
            let claims = if i as u32 == j { 0 } else { evidence.known(i as u32, j).claims };
            // A single claim is made by the lower node.
            if claims == 2 || (claims == 1 && (i as u32) < j) {
                row[j as usize / 64] |= 1 << (j % 64);
            }
        }
    }))
}

proptest! {
    /// Few distinct parameters, so ties are everywhere.
    #[test]
    fn every_variant_equals_the_dense_code(
        levels in prop::collection::vec(-6_i32..3, 3..40),
        claims in prop::collection::vec(0_u8..3, 800),
        epsilon in prop::sample::select(vec![0.0, 0.3, 1.0, 4.0, 30.0]),
    ) {
        let n = levels.len() as u32;
        let beta: Vec<f64> = levels.iter().map(|&level| f64::from(level) * 0.75).collect();
        let mut claims = claims.into_iter();
        let rows: Vec<Vec<(u32, u8)>> = (0..n)
            .map(|i| (i + 1..n).filter_map(|j| Some((j, claims.next()?))).filter(|&(_, c)| c > 0).collect())
            .collect();
        let evidence = LinkEvidence::from_rows(rows).expect("valid");
        // Every second case in planes, as dense reports give them.
        let evidence = if n.is_multiple_of(2) { planes(&evidence) } else { evidence };
        let model = LinkModel { degrees: vec![0.0; beta.len()], beta, epsilon_links: epsilon, ..LinkModel::default() };
        let posterior = Posterior::new(&model, evidence.clone()).expect("same size");
        for variant in [Construction::Hard, Construction::Hybrid] {
            prop_assert_eq!(build(&model, &evidence, variant), dense(&posterior, variant, 1.0));
        }
        let more = build_more(&model, &evidence, Construction::Hybrid, 2.5);
        prop_assert_eq!(more, dense(&posterior, Construction::Hybrid, 2.5));
        prop_assert!(build(&model, &evidence, Construction::Soft).is_empty());
    }
}

/// T4.7: with a huge budget the posterior is the graph itself.
#[test]
fn a_huge_budget_gives_the_graph() {
    let rows = vec![vec![(1, 2), (3, 2)], vec![], vec![(4, 2)], vec![], vec![]];
    let evidence = LinkEvidence::from_rows(rows).expect("valid");
    let beta = vec![-0.5, -0.9, -0.9, -0.9, -0.9];
    for epsilon_links in [54.0, f64::INFINITY] {
        let model = LinkModel { degrees: vec![1.0; 5], beta: beta.clone(), epsilon_links, ..LinkModel::default() };
        let truth = [(0, 1, 1.0), (0, 3, 1.0), (2, 4, 1.0)];
        assert_eq!(build(&model, &evidence, Construction::Hard), truth);
        assert_eq!(build(&model, &evidence, Construction::Hybrid), truth);
    }
}

#[test]
fn a_multiple_that_is_no_positive_number_is_refused() {
    let evidence = LinkEvidence::from_rows(vec![vec![(1, 2)], vec![]]).expect("valid");
    let model = LinkModel { degrees: vec![1.0; 2], beta: vec![0.0; 2], epsilon_links: 1.0, ..LinkModel::default() };
    for edge_multiple in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let params = Params { variant: Construction::Hybrid, edge_multiple };
        let inputs = (model.clone(), evidence.clone());
        let found = Construct::run(inputs, &params, &StageRng::new(0, "construct", 0), &Progress::none());
        assert!(matches!(found, Err(Error::EdgeMultiple(_))), "{edge_multiple}");
    }
}
