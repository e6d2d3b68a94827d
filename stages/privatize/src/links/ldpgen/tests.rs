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
