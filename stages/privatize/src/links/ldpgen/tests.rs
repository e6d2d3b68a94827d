use veilgraph_contract::{Private, Progress, Stage, StageRng};

use super::*;
use crate::Local;
use crate::tests::{nats, ring};

#[test]
fn counts_without_noise_are_the_numbers_of_neighbours() {
    let groups = Groups { of: (0..30).map(|node| u32::from(node % 3 == 0)).collect(), n_groups: 2 };
    let rng = StageRng::new(5, "privatize", 0);
    let run = |groups: Groups, epsilon: Epsilon| {
        let params = Params { epsilon, degree_noise: DegreeNoise::default() };
        Local::<LdpGen<1>>::run((Private(ring(30)), groups), &params, &rng, &Progress::none())
    };
    let (counts,) = run(groups.clone(), Epsilon::INFINITE).expect("valid");
    // Every third node is in group 1: its two neighbours are not, and each other node has one such neighbour.
    assert!((0..30).all(|node| counts.of(node) == if node % 3 == 0 { [2.0, 0.0] } else { [1.0, 1.0] }));
    let (noisy,) = run(groups, nats(1.0)).expect("valid");
    assert_ne!(noisy.counts, counts.counts);
    let few = Groups { of: vec![0; 29], n_groups: 2 };
    assert!(run(few, nats(1.0)).is_err_and(|error| error.to_string().contains("29 nodes")));
}

/// The noise of each round is that of half the budget, which is what each round is charged for. At a false-alarm rate of
/// one in 100,000, the share of counts without noise tells a round that draws at the whole budget.
#[test]
fn each_round_draws_at_half_the_budget() {
    fn share_without_noise<const ROUND: u8>() -> (f64, f64) {
        let groups = Groups { of: (0..4000).map(|node| node % 5).collect(), n_groups: 5 };
        let params = Params { epsilon: nats(1.2), degree_noise: DegreeNoise::default() };
        let truth = Params { epsilon: Epsilon::INFINITE, ..params.clone() };
        let run = |params: &Params| {
            let rng = StageRng::new(7, "privatize", u32::from(ROUND));
            let inputs = (Private(ring(4000)), groups.clone());
            Local::<LdpGen<ROUND>>::run(inputs, params, &rng, &Progress::none()).expect("valid").0.counts
        };
        let (noisy, exact) = (run(&params), run(&truth));
        let same = noisy.iter().zip(&exact).filter(|(noisy, exact)| noisy == exact).count();
        (same as f64, noisy.len() as f64)
    }
    // P(no noise) of the discrete Laplace law at 0.6 nats.
    let decay = (-0.6_f64).exp();
    let expected = (1.0 - decay) / (1.0 + decay);
    for (same, all) in [share_without_noise::<1>(), share_without_noise::<2>()] {
        let z = (same - all * expected) / (all * expected * (1.0 - expected)).sqrt();
        assert!(z.abs() < 4.5, "{same} of {all} counts have no noise, {:.0} are expected: z = {z:.1}", all * expected);
    }
}
