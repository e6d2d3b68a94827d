use std::num::NonZeroU32;

use proptest::prelude::*;
use veilgraph_contract::{Artifact, Invalid};
use veilgraph_graph::WeightedGraph;
use veilgraph_posterior::SimilarPairs;

use super::*;
use crate::{Construct, Variant};

fn run<S: Stage>(inputs: S::Inputs, params: &S::Params) -> S::Outputs
where
    S::Error: std::fmt::Debug,
{
    S::run(inputs, params, &StageRng::new(0, "construct", 0), &Progress::none()).expect("valid")
}

/// The graph from row blocks.
fn from_blocks(model: &LinkModel, evidence: &LinkEvidence, params: &Params, row_blocks: u32) -> WeightedGraph {
    let stored = || Stored::held(evidence.clone());
    let of = NonZeroU32::new(row_blocks).expect("at least one");
    let blocks = || (0..row_blocks).map(|index| RowBlock { index, row_blocks: of });
    let threshold = (params.variant == Variant::Hybrid).then(|| {
        let counts =
            blocks().map(|block| Stored::held(run::<CountKnownPairs>((model.clone(), stored()), &block).0)).collect();
        run::<FindThreshold>((model.clone(), counts), &ThresholdParams::from(params)).0
    });
    let select = |block| Stored::held(run::<SelectPairs>((model.clone(), stored(), threshold), &block).0);
    run::<MergeGraph>((blocks().map(select).collect(), threshold), &NoParams {}).0.collect().expect("valid")
}

proptest! {
    /// Few distinct parameters, so ties are everywhere; with bins, so pairs of two kinds are known.
    #[test]
    fn row_blocks_make_the_graph_of_the_whole(
        levels in prop::collection::vec(-6_i32..3, 3..40),
        claims in prop::collection::vec(0_u8..3, 800),
        epsilon in prop::sample::select(vec![0.0, 0.3, 4.0, f64::INFINITY]),
        row_blocks in 1_u32..6,
    ) {
        let n = levels.len() as u32;
        let beta: Vec<f64> = levels.iter().map(|&level| f64::from(level) * 0.75).collect();
        let mut claims = claims.into_iter();
        let rows: Vec<Vec<(u32, u8)>> = (0..n)
            .map(|i| (i + 1..n).filter_map(|j| Some((j, claims.next()?))).filter(|&(_, c)| c > 0).collect())
            .collect();
        let bins = (0..n).map(|i| (i + 1..n).filter(|j| (i * 5 + j * 11) % 6 == 0).map(|j| (j, 1)).collect());
        let similar = SimilarPairs::from_rows(1, bins).expect("valid");
        let evidence = LinkEvidence::from_rows(rows).expect("valid").with_similar(similar).expect("same size");
        let model = LinkModel { beta, epsilon_links: epsilon, bin_logits: vec![1.3], ..LinkModel::default() };
        for variant in [Variant::Hard, Variant::Hybrid] {
            for edge_multiple in [1e-9, 1.0, 2.5] {
                let params = Params { variant, edge_multiple };
                let whole = run::<Construct>((model.clone(), Stored::held(evidence.clone())), &params).0;
                let merged = from_blocks(&model, &evidence, &params, row_blocks);
                prop_assert_eq!(merged.facts(), whole.facts());
                prop_assert_eq!(merged, whole);
            }
        }
    }
}

/// Pairs of another graph, and row blocks in another order, are no graph.
#[test]
fn what_does_not_belong_together_is_not_merged() {
    let pairs =
        |n_nodes, i, j| Stored::held(LikelyPairs { n_nodes, pairs: vec![LikelyPair { i, j, probability: 0.5 }] });
    let merge = |stored| {
        let rng = StageRng::new(0, "construct", 0);
        let (graph,) = MergeGraph::run((stored, None), &NoParams {}, &rng, &Progress::none())?;
        graph.collect().map_err(Error::from)
    };
    assert!(merge(vec![pairs(5, 0, 1), pairs(5, 2, 3)]).is_ok());
    for bad in [vec![pairs(5, 0, 1), pairs(6, 2, 3)], vec![pairs(5, 2, 3), pairs(5, 0, 1)], Vec::new()] {
        assert!(merge(bad).is_err());
    }
}

#[test]
fn pairs_are_read_as_they_were_written_and_checked() {
    let pair = |i, j, probability| LikelyPair { i, j, probability };
    let read = |pairs: Vec<LikelyPair>| -> Result<LikelyPairs, Invalid> {
        let pairs = LikelyPairs { n_nodes: 5, pairs };
        LikelyPairs::from_blocks(&pairs.facts(), &mut pairs.blocks())
    };
    let good = vec![pair(0, 3, 0.5), pair(1, 2, 1.0)];
    assert_eq!(read(good.clone()).expect("valid").pairs, good);
    for bad in [vec![pair(3, 1, 0.5)], vec![pair(1, 5, 0.5)], vec![pair(1, 2, 1.5)], vec![good[1], good[0]]] {
        assert!(read(bad).is_err());
    }
}
