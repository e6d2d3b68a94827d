use veilgraph_graph::BitMatrix;

use super::*;
use crate::pairs::tests::{in_planes, posterior};
use crate::{Known, LinkEvidence, LinkModel, LogisticKernel, SimilarPairs};

fn check<T: Real>(operator: &SoftOperator<T>, posterior: &Posterior, width: usize, tolerance: f64, name: &str) {
    let n = posterior.n_nodes();
    let x: Vec<T> = (0..n * width).map(|k| T::from_f64((k as f64 * 0.37).sin())).collect();
    let product = operator.apply(&x, width);
    for i in 0..n {
        for column in 0..width {
            let (mut direct, mut size) = (0.0, 1e-30);
            for j in (0..n).filter(|&j| j != i) {
                let term = posterior.probability(i as u32, j as u32) * x[j * width + column].to_f64();
                direct += term;
                size += term.abs();
            }
            let error = (product[i * width + column].to_f64() - direct).abs() / size;
            assert!(error < tolerance, "{name}, row {i}: relative error {error}");
        }
    }
}

/// Four odds that stand a quarter of a word apart share one division.
#[test]
fn a_shared_division_gives_each_probability() {
    const QUARTER: usize = real::WORD / 4;
    let mut odds: [f64; real::WORD] = std::array::from_fn(|at| libm::exp(at as f64 * 6.0 - 200.0));
    (odds[0], odds[1 + QUARTER], odds[2 + 2 * QUARTER], odds[3 + 3 * QUARTER]) = (0.0, f64::INFINITY, 1e300, 1.0);
    for quarter in 0..4 {
        odds[4 + quarter * QUARTER] = f64::INFINITY;
    }
    odds[5 + QUARTER] = f64::NAN;
    let mut probabilities = odds;
    f64::replace_by_probabilities(&mut probabilities);
    for (at, (odds, probability)) in odds.into_iter().zip(probabilities).enumerate() {
        if at % QUARTER == 5 {
            assert!(probability.is_nan(), "what is no number is shared like the division: {at}, {probability}");
        } else {
            let expected = 1.0 / (1.0 + odds);
            let error = (probability - expected).abs();
            assert!(error <= 1e-15 * expected + 2e-70, "odds {odds}: {probability} for {expected}");
        }
    }
}

fn check_forms<T: Real>(posterior: &Posterior, width: usize, tolerance: f64, name: &str) {
    let planes = posterior.evidence().planes().expect("planes");
    let low_rank = SoftOperator::<T>::LowRank(LowRank::new(posterior));
    check(&low_rank, posterior, width, tolerance, &format!("low rank, {name}"));
    let every_entry = SoftOperator::<T>::EveryEntry(EveryEntry::new(posterior, planes.clone()));
    check(&every_entry, posterior, width, tolerance, &format!("every entry, {name}"));
}

#[test]
fn the_operator_equals_the_dense_product() {
    for epsilon in [0.0, 0.1, 0.9, 3.6, 7.2, f64::INFINITY] {
        for width in [1, 3, 8, 16] {
            let posterior = in_planes(&posterior(epsilon));
            check_forms::<f32>(&posterior, width, 1e-6, &format!("single precision, ε {epsilon}"));
            check_forms::<f64>(&posterior, width, 1e-12, &format!("double precision, ε {epsilon}"));
        }
    }
}

/// With a tiny budget, the parameters of a small graph spread over seventy nats; probabilities saturate at both ends.
#[test]
fn a_wide_range_of_parameters_is_no_less_exact() {
    let n = 90_u32;
    let beta: Vec<f64> = (0..n).map(|i| -34.0 + 70.0 * f64::from(i) / f64::from(n - 1)).collect();
    for epsilon_links in [0.27, 3.0, 12.0] {
        let rows = (0..n).map(|i| (i + 1..n).filter(|j| (i * 31 + j * 17) % 5 == 0).map(|j| (j, 1)).collect());
        let evidence = LinkEvidence::from_rows(rows).expect("valid");
        let model =
            LinkModel { degrees: vec![1.0; n as usize], beta: beta.clone(), epsilon_links, ..LinkModel::default() };
        let posterior = Posterior::new(&model, evidence).expect("same size");
        let low_rank = SoftOperator::<f32>::LowRank(LowRank::new(&posterior));
        check(&low_rank, &posterior, 3, 1e-6, &format!("single precision, ε {epsilon_links}"));
        let low_rank = SoftOperator::<f64>::LowRank(LowRank::new(&posterior));
        check(&low_rank, &posterior, 3, 1e-12, &format!("double precision, ε {epsilon_links}"));
    }
}

/// A graph of several tasks and chunks of nodes, where about one pair in `one_in` is claimed and one in seven is similar.
fn larger_posterior(one_in: u32) -> Posterior {
    const NODES: u32 = 600;
    let later = |i: u32, accept: fn(u32, u32, u32) -> bool| {
        (i + 1..NODES).filter(move |&j| accept(i, j, one_in)).map(move |j| (j, 1 + (j % 2) as u8)).collect::<Vec<_>>()
    };
    let claimed = |i: u32| later(i, |i, j, one_in| (i * 31 + j * 17) % one_in == 0);
    let evidence = LinkEvidence::from_rows((0..NODES).map(claimed)).expect("valid");
    let similar = SimilarPairs::from_rows(2, (0..NODES).map(|i| later(i, |i, j, _| (i + 3 * j) % 7 == 0)));
    let evidence = evidence.with_similar(similar.expect("valid")).expect("same size");
    let model = LinkModel {
        degrees: vec![4.0; NODES as usize],
        beta: (0..NODES).map(|i| -3.0 + 2.5 * f64::from(i * 7 % NODES) / f64::from(NODES)).collect(),
        epsilon_links: 0.9,
        bin_logits: vec![-0.4, 1.1],
        ..LinkModel::default()
    };
    in_planes(&Posterior::new(&model, evidence).expect("same size"))
}

/// Columns are independent: in blocks of every width, and on any number of threads, one has the bits that it has alone.
#[test]
fn blocks_of_columns_and_threads_change_no_bit() {
    let posterior = larger_posterior(5);
    let planes = posterior.evidence().planes().expect("planes");
    let forms = [
        SoftOperator::<f32>::LowRank(LowRank::new(&posterior)),
        SoftOperator::EveryEntry(EveryEntry::new(&posterior, planes.clone())),
    ];
    let n = posterior.n_nodes();
    for operator in &forms {
        check(operator, &posterior, 9, 1e-6, "600 nodes");
        assert!(operator.apply(&[], 0).is_empty());
        for width in [7, 9, 17, 24, 33] {
            let x: Vec<f32> = (0..n * width).map(|k| (k as f32 * 0.37).sin()).collect();
            let on = |n_threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
                pool.install(|| operator.apply(&x, width))
            };
            let product = on(1);
            assert_eq!(on(4), product, "width {width}");
            check_some_rows(operator, &x, width, &product);
            for column in [0, width / 2, width - 1] {
                let own: Vec<f32> = x.iter().copied().skip(column).step_by(width).collect();
                let alone = operator.apply(&own, 1);
                for (row, alone) in alone.into_iter().enumerate() {
                    let together = product[row * width + column];
                    assert_eq!(together.to_bits(), alone.to_bits(), "width {width}, row {row}, column {column}");
                }
            }
        }
    }
}

/// Rows that are read have the bits that they have among all others, and rows of zeros may be left out.
fn check_some_rows(operator: &SoftOperator<f32>, x: &[f32], width: usize, product: &[f32]) {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let listed: Vec<u32> = [0, 63, 64].into_iter().chain((100..330).step_by(7)).chain([599]).collect();
    let is_listed = |row: usize| listed.contains(&(row as u32));
    let read = operator.apply_rows(x, width, ProductRows::Read(&listed));
    for row in (0..operator.n_nodes()).filter(|&row| is_listed(row)) {
        let at = row * width..(row + 1) * width;
        assert_eq!(bits(&read[at.clone()]), bits(&product[at]), "width {width}, row {row}");
    }
    let few: Vec<f32> =
        x.iter().enumerate().map(|(at, &value)| if is_listed(at / width) { value } else { 0.0 }).collect();
    let nonzero = operator.apply_rows(&few, width, ProductRows::Nonzero(&listed));
    assert_eq!(bits(&nonzero), bits(&operator.apply(&few, width)), "width {width}");
}

#[test]
fn the_cheaper_form_is_chosen() {
    let few = SoftOperator::<f32>::new(&posterior(1.0));
    assert!(matches!(few, SoftOperator::LowRank(_)), "a third of all pairs, in lists");
    let few = SoftOperator::<f32>::new(&larger_posterior(40));
    assert!(matches!(few, SoftOperator::LowRank(_)), "a sixth of all pairs, in planes");
    let many = SoftOperator::<f32>::new(&larger_posterior(10));
    assert!(matches!(many, SoftOperator::EveryEntry(_)), "a quarter of all pairs, in planes, whose entries are kept");
    let unkept = SoftOperator::<f64>::new(&larger_posterior(10));
    assert!(
        matches!(unkept, SoftOperator::LowRank(_)),
        "a quarter of all pairs, in planes, whose entries are not kept"
    );
    let n = 64;
    let all = BitMatrix::from_rows(n, |i, row| row[0] = !(1 << i));
    let model = LinkModel { degrees: vec![1.0; n], beta: vec![-1.0; n], epsilon_links: 0.1, ..LinkModel::default() };
    let posterior = Posterior::new(&model, LinkEvidence::from_reports(all)).expect("same size");
    assert!(matches!(SoftOperator::<f32>::new(&posterior), SoftOperator::EveryEntry(_)), "every pair");
}

#[test]
fn several_words_are_multiplied_with_every_entry() {
    let posterior = larger_posterior(2);
    let planes = posterior.evidence().planes().expect("planes");
    for width in [1, 3, 16] {
        let operator = SoftOperator::<f64>::EveryEntry(EveryEntry::new(&posterior, planes.clone()));
        check(&operator, &posterior, width, 1e-12, "600 nodes, double precision");
    }
}

#[test]
fn dense_sums_equal_those_over_all_pairs() {
    let small = [0.1, 2.0].map(|epsilon| (epsilon, in_planes(&posterior(epsilon))));
    for (epsilon, posterior) in small.into_iter().chain([(0.9, larger_posterior(2))]) {
        let n = posterior.n_nodes();
        let v: Vec<f64> = (0..n).map(|k| (k as f64 * 0.37).sin()).collect();
        for (kernel, tolerance) in [(LogisticKernel::Logistic, 1e-12), (LogisticKernel::LogisticSlope, 1e-5)] {
            let sums = dense_sums(posterior.evidence(), epsilon, kernel, posterior.beta(), &v).expect("planes");
            for (i, sum) in sums.into_iter().enumerate() {
                let term = |j: usize| {
                    let claims = posterior.evidence().known(i as u32, j as u32).claims;
                    kernel.at(posterior.logit(i as u32, j as u32, Known { claims, bin: 0 })) * v[j]
                };
                let direct: f64 = (0..n).filter(|&j| j != i).map(term).sum();
                assert!((sum - direct).abs() < tolerance, "{kernel:?}, {n} nodes, node {i}: {sum} {direct}");
            }
        }
    }
}

/// The estimate tells parameters that ran away by sums that are no number.
#[test]
fn dense_sums_of_parameters_that_are_no_numbers_are_none() {
    let posterior = larger_posterior(2);
    let mut beta = posterior.beta().to_vec();
    beta[70] = f64::NAN;
    let ones = vec![1.0; beta.len()];
    let sums = dense_sums(posterior.evidence(), 0.9, LogisticKernel::Logistic, &beta, &ones).expect("planes");
    assert!(sums.iter().all(|sum| sum.is_nan()), "every node is beside this one");
}
