use veilgraph_graph::{Aggregator, BitMatrix, Construction, Links, WeightedGraph};

use super::*;

const NODES: usize = 8;
const FEATURES: usize = 21;

/// Weighted links; node 6 has none, and node 7 only one of weight zero.
fn weights() -> Vec<(u32, u32, f32)> {
    vec![(0, 1, 0.9), (0, 2, 0.2), (0, 3, 1.0), (0, 4, 0.6), (1, 2, 0.1), (3, 5, 0.4)]
}

fn listed(directed: bool) -> WeightedGraph {
    let graph = WeightedGraph::undirected(Construction::Hybrid, NODES, weights());
    WeightedGraph { directed, ..graph }
}

/// The same links, each with weight 1, as a list and as bits.
fn unweighted() -> [GraphOperator; 2] {
    let links: Vec<_> = weights().into_iter().map(|(i, j, _)| (i, j, 1.0)).collect();
    let mut bits = BitMatrix::from_rows(NODES, |_, _| {});
    for &(i, j, _) in &links {
        bits.set(i as usize, j);
        bits.set(j as usize, i);
    }
    let as_bits =
        WeightedGraph { links: Links::Bits(bits), ..WeightedGraph::undirected(Construction::Given, NODES, Vec::new()) };
    let as_list = WeightedGraph::undirected(Construction::Hard, NODES, links);
    [GraphOperator::explicit(&as_list), GraphOperator::explicit(&as_bits)]
}

fn features() -> [FeatureMatrix; 3] {
    let values = (0..NODES * FEATURES).map(|k| (k as f32 * 0.7).sin()).collect();
    let dense = DenseMatrix::new(NODES, FEATURES, values).expect("finite");
    let row =
        |node: usize| (0..FEATURES as u32).filter(|c| (node as u32 + c).is_multiple_of(11)).map(|c| (c, 0.5)).collect();
    let sparse = || SparseMatrix::from_rows(FEATURES, (0..NODES).map(row)).expect("valid");
    [
        FeatureMatrix::Dense(dense),
        FeatureMatrix::Sparse { fill: 0.3, entries: sparse() },
        FeatureMatrix::Sparse { fill: 0.0, entries: sparse() },
    ]
}

/// `(S + ... ) X`, dense and in double precision, as the papers write it.
fn textbook(weights: &[Vec<f64>], features: &FeatureMatrix, propagation: Propagation) -> Vec<f64> {
    let degrees: Vec<f64> = weights.iter().map(|row| row.iter().sum()).collect();
    let scale = |i: usize| if degrees[i] > 0.0 { 1.0 / degrees[i].sqrt() } else { 0.0 };
    let mut x: Vec<Vec<f64>> = (0..NODES).map(|node| features.row(node).into_iter().map(f64::from).collect()).collect();
    let mut sum = vec![vec![0.0; FEATURES]; NODES];
    for _ in 0..propagation.hops {
        let next = |i: usize, c: usize| (0..NODES).map(|j| scale(i) * weights[i][j] * scale(j) * x[j][c]).sum();
        x = (0..NODES).map(|i| (0..FEATURES).map(|c| next(i, c)).collect()).collect();
        sum.iter_mut().flatten().zip(x.iter().flatten()).for_each(|(sum, x)| *sum += x);
    }
    let hops = f64::from(propagation.hops);
    let is_mean = propagation.aggregator == Aggregator::Hoa && propagation.hops > 0;
    let mut found: Vec<f64> = if is_mean { sum.concat().iter().map(|x| x / hops).collect() } else { x.concat() };
    if propagation.rescale == Rescale::RootMeanSquare {
        let size = (found.iter().map(|x| x * x).sum::<f64>() / found.len() as f64).sqrt();
        found.iter_mut().for_each(|x| *x /= size);
    }
    found
}

fn dense(links: &[(u32, u32, f32)], directed: bool) -> Vec<Vec<f64>> {
    let mut dense = vec![vec![0.0; NODES]; NODES];
    for &(source, target, weight) in links {
        dense[target as usize][source as usize] = f64::from(weight);
        if !directed {
            dense[source as usize][target as usize] = f64::from(weight);
        }
    }
    dense
}

/// Every entry of a map, from its products and from those of its adjoint.
fn every_entry(map: &FeatureMap) -> [Vec<f32>; 2] {
    let identity = |n: usize| -> Vec<f32> { (0..n * n).map(|k| f32::from(u8::from(k / n == k % n))).collect() };
    let adjoint = map.apply(&identity(NODES), NODES, true);
    let back = (0..NODES * FEATURES).map(|k| adjoint[k % FEATURES * NODES + k / FEATURES]).collect();
    [map.apply(&identity(FEATURES), FEATURES, false), back]
}

#[test]
fn propagated_features_are_the_textbook_ones_on_every_graph() {
    let unit: Vec<_> = weights().into_iter().map(|(i, j, _)| (i, j, 1.0)).collect();
    let [as_list, as_bits] = unweighted();
    let graphs = [
        (GraphOperator::explicit(&listed(false)), dense(&weights(), false)),
        (GraphOperator::explicit(&listed(true)), dense(&weights(), true)),
        (as_list, dense(&unit, false)),
        (as_bits, dense(&unit, false)),
    ];
    for (graph, weights) in graphs {
        let graph = Arc::new(graph);
        for (values, hops) in features().into_iter().flat_map(|f| [0, 1, 3].map(|hops| (f.clone(), hops))) {
            for (aggregator, rescale) in
                [(Aggregator::KProp, Rescale::None), (Aggregator::Hoa, Rescale::RootMeanSquare)]
            {
                let propagation = Propagation { hops, aggregator, rescale };
                let expected = textbook(&weights, &values, propagation);
                let estimated = EstimatedFeatures { values: values.clone(), propagation };
                let map = FeatureMap::new(&estimated, &graph).expect("finite");
                for found in every_entry(&map) {
                    for (found, expected) in found.iter().zip(&expected) {
                        let error = (f64::from(*found) - expected).abs();
                        assert!(error < 3e-6 * (1.0 + expected.abs()), "{propagation:?}: {found} {expected}");
                    }
                }
            }
        }
    }
}

/// Both ways to propagate are taken here: few entries are computed once, and long products are made anew each time.
#[test]
fn features_are_propagated_in_the_cheaper_way() {
    let graph = Arc::new(GraphOperator::explicit(&listed(false)));
    let [dense, filled, _] = features();
    let map = |values: FeatureMatrix, hops| {
        let propagation = Propagation { hops, ..Propagation::default() };
        FeatureMap::new(&EstimatedFeatures { values, propagation }, &graph).expect("finite")
    };
    assert!(map(dense, 2).dense().is_some(), "a dense matrix takes as long before it is propagated");
    assert!(map(filled.clone(), 1).dense().is_none(), "few entries and few links");
    assert!(map(filled, 40).dense().is_some(), "many steps");
}

#[test]
fn a_graph_without_links_leaves_nothing() {
    let graph = WeightedGraph::undirected(Construction::Hard, NODES, Vec::new());
    let graph = Arc::new(GraphOperator::explicit(&graph));
    let propagation = Propagation { hops: 2, rescale: Rescale::RootMeanSquare, ..Propagation::default() };
    for values in features() {
        let map = FeatureMap::new(&EstimatedFeatures { values, propagation }, &graph).expect("finite");
        assert!(every_entry(&map).iter().flatten().all(|&value| value == 0.0));
    }
}
