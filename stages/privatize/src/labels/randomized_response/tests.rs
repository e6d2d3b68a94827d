use serde_json::json;

use super::*;

fn params(epsilon: f64) -> Params {
    Params { epsilon: Epsilon::try_from(epsilon).expect("positive") }
}

fn run(labels: &Labels, epsilon: f64, seed: u64) -> Result<NoisyLabels, Error> {
    let rng = StageRng::new(seed, "privatize", 0);
    LocalLabels::run((Private(labels.clone()),), &params(epsilon), &rng, &Progress::none()).map(|(labels,)| labels)
}

/// A million nodes of five classes in turn.
fn million() -> Labels {
    Labels::new(5, (0..1_000_000).map(|node| (node, (node % 5) as u16)).collect()).expect("labels")
}

/// Chi-square of each row of the transition matrix at 99.9 %: 18.47 with four degrees of freedom. Fifteen rows are
/// compared in all, so one seed in 70 raises a false alarm; the seed is fixed.
fn follows(sent: &NoisyLabels, truth: f64) -> Result<(), String> {
    let mut counts = [[0_u32; 5]; 5];
    for &(node, class) in sent.labels.classes() {
        counts[node as usize % 5][usize::from(class)] += 1;
    }
    for (class, row) in counts.iter().enumerate() {
        let total: u32 = row.iter().sum();
        let term = |(sent, &count): (usize, &u32)| {
            let expected = f64::from(total) * if sent == class { truth } else { (1.0 - truth) / 4.0 };
            (f64::from(count) - expected).powi(2) / expected
        };
        let statistic: f64 = row.iter().enumerate().map(term).sum();
        if statistic >= 18.47 {
            return Err(format!("class {class}: χ² {statistic}"));
        }
    }
    Ok(())
}

#[test]
fn classes_change_as_often_as_they_should_and_a_halved_rate_is_caught() {
    let labels = million();
    for epsilon in [0.5, 1.0, 5.0_f64] {
        let truth = epsilon.exp() / (epsilon.exp() + 4.0);
        let sent = run(&labels, epsilon, 71).expect("valid");
        assert_eq!(follows(&sent, truth), Ok(()), "ε {epsilon}");
        assert!((sent.facts.truth_probability - truth).abs() < 1e-13);
        // Half as many classes are replaced.
        let weaker = (4.0 * (1.0 + truth) / (1.0 - truth)).ln();
        assert!(follows(&run(&labels, weaker, 71).expect("valid"), truth).is_err(), "ε {epsilon}");
    }
}

/// Every class against every class, at the executed probabilities.
#[test]
fn a_label_costs_its_budget_and_no_more() {
    for epsilon in [0.01, 0.5, 1.0, 5.0] {
        let labels = Labels::new(7, vec![(0, 3)]).expect("labels");
        let truth = run(&labels, epsilon, 1).expect("valid").facts.truth_probability;
        let law = |class: usize, sent: usize| if class == sent { truth } else { (1.0 - truth) / 6.0 };
        let pairs = (0..7).flat_map(|a| (0..7).flat_map(move |b| (0..7).map(move |sent| (a, b, sent))));
        let worst = pairs.map(|(a, b, sent)| (law(a, sent) / law(b, sent)).ln()).fold(0.0, f64::max);
        assert!(worst <= epsilon + 1e-9 && worst > epsilon - 1e-6, "ε {epsilon}: {worst}");
        let rows = LocalLabels::releases(&params(epsilon));
        assert_eq!(
            rows.iter().map(|row| (row.relation, row.cost.epsilon())).collect::<Vec<_>>(),
            [(Relation::Label, epsilon), (Relation::NodeAttrs, epsilon)]
        );
    }
}

#[test]
fn without_noise_the_classes_are_sent_and_one_class_is_refused() {
    let labels = Labels::new(3, vec![(2, 0), (5, 1), (9, 2)]).expect("labels");
    let sent = run(&labels, f64::INFINITY, 1).expect("valid");
    assert_eq!((sent.labels, sent.facts.truth_probability), (labels, 1.0));
    let one = Labels::new(1, vec![(0, 0)]).expect("labels");
    assert!(run(&one, 1.0, 1).expect_err("refused").to_string().contains("at least 2"));
    assert!(serde_json::from_value::<Params>(json!({"epsilon": 1.0, "range": 1})).is_err());
}

#[test]
fn another_number_of_threads_sends_the_same_classes() {
    let labels = million();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let [alone, together] = [1, 3].map(|threads| pool(threads).install(|| run(&labels, 1.0, 2).expect("valid")));
    assert_eq!(alone, together);
}
