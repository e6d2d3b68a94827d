use veilgraph_graph::{Construction, Links};

use super::*;

const N: usize = 9;

fn links(learning: LinkLearning) -> Arc<ReportedLinks> {
    let pairs = (0..N as u32).flat_map(|i| (0..N as u32).map(move |j| (i, j)));
    let links = pairs.filter(|&(i, j)| i != j && (5 * i + 3 * j * j) % 7 < 3).map(|(i, j)| (i, j, 1.0)).collect();
    let graph =
        WeightedGraph { construction: Construction::Learned, n_nodes: N, directed: true, links: Links::Listed(links) };
    Arc::new(ReportedLinks::new(&graph, learning))
}

fn values(size: usize, seed: usize) -> Vec<f32> {
    (0..size).map(|k| ((k * 37 + seed * 11) % 23) as f32 / 10.0 - 1.1).collect()
}

/// Row sums of weights, `[N, N]`.
fn row_sums(weights: &[f32], rule: Rule) -> Vec<RowSum> {
    weights.chunks_exact(N).map(|row| rule.row_sum(row.iter().sum())).collect()
}

/// `Σ g ∘ (M x)` for both layers plus penalties, in double precision, at changed weights.
fn objective(rule: Rule, weights: &[f32], passes: &[(Vec<f32>, Vec<f32>, usize)]) -> f64 {
    let sums = row_sums(weights, rule);
    let mut total = 0.0;
    for (x, g, width) in passes {
        for i in 0..N {
            for j in 0..N {
                let own = if i == j && rule == Rule::Symmetric { 1.0 } else { 0.0 };
                let weight = f64::from(weights[i * N + j]) + own;
                let scale = match rule {
                    Rule::Symmetric => 1.0 / f64::from(sums[i].sum).sqrt() / f64::from(sums[j].sum).sqrt(),
                    Rule::Mean => 1.0 / f64::from(sums[i].sum),
                };
                for lane in 0..*width {
                    total += f64::from(g[i * width + lane]) * scale * weight * f64::from(x[j * width + lane]);
                }
            }
        }
    }
    total
}

/// The first step of Adam moves each weight by the learning rate against the sign of its gradient: signs are compared
/// with those of finite differences.
#[test]
fn the_first_step_goes_against_the_gradient() {
    for rule in [Rule::Symmetric, Rule::Mean] {
        let learning = LinkLearning { learning_rate: 0.25, deviation: 0.0, sparsity: 0.0 };
        let map = LearnedMap::new(links(learning), rule);
        {
            // Away from whole sums, where the least divisor has a kink.
            let mut state = map.lock();
            state.weights.iter_mut().zip(values(N * N, 5)).for_each(|(weight, by)| *weight += 0.3 * by);
            (0..N).for_each(|node| state.weights[node * (N + 1)] = 0.0);
            state.sums = row_sums(&state.weights, rule);
        }
        let passes = [(values(N * 4, 1), values(N * 4, 2), 4), (values(N * 3, 3), values(N * 3, 4), 3)];
        // As in training, the first layer is recorded, then an evaluation runs that is not, and then the others are recorded.
        let [(first, _, first_width), (second, _, second_width)] = &passes;
        map.recorded(|| drop(map.apply(first, *first_width, false, ProductRows::All)));
        map.apply(&values(N * 3, 6), 3, false, ProductRows::All);
        map.recorded(|| {
            map.apply(second, *second_width, false, ProductRows::All);
            passes.iter().rev().for_each(|(_, g, width)| drop(map.apply(g, *width, true, ProductRows::All)));
        });
        let before = map.lock().weights.clone();
        map.learn();
        let after = map.lock().weights.clone();
        let mut compared = 0;
        for at in (0..N * N).filter(|at| at % (N + 1) != 0) {
            let shifted = |by: f32| {
                let mut weights = before.clone();
                weights[at] += by;
                objective(rule, &weights, &passes)
            };
            let slope = (shifted(0.01) - shifted(-0.01)) / 0.02;
            if slope.abs() > 0.02 {
                let step = f64::from(after[at] - before[at]);
                assert!((step + 0.25 * slope.signum()).abs() < 1e-3, "{rule:?}, {at}: slope {slope}, step {step}");
                compared += 1;
            }
        }
        assert!(compared > 50, "{compared} of {}", N * (N - 1));
    }
}

#[test]
fn penalties_draw_weights_to_the_reports_and_to_zero() {
    let run = |deviation: f64, sparsity: f64| {
        let map = LearnedMap::new(links(LinkLearning { learning_rate: 0.01, deviation, sparsity }), Rule::Mean);
        map.lock().weights.iter_mut().for_each(|weight| *weight += 0.5);
        map.lock().distance = 0.5 * N as f64;
        map.recorded(|| [false, true].map(|adjoint| map.apply(&[0.0; N], 1, adjoint, ProductRows::All)));
        map.learn();
        map.lock().weights.clone()
    };
    let start: Vec<f32> = links(LinkLearning::default()).dense();
    let off_diagonal = || (0..N * N).filter(|at| at % (N + 1) != 0);
    let (near, small) = (run(1.0, 0.0), run(0.0, 1.0));
    assert!(off_diagonal().all(|at| (near[at] - (start[at] + 0.49)).abs() < 1e-5), "towards the reports");
    assert!(off_diagonal().all(|at| (small[at] - (start[at] + 0.49)).abs() < 1e-5), "towards zero");
    assert!((0..N).all(|node| near[node * (N + 1)] == 0.0), "no node is its own neighbour");
}
