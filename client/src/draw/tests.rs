use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use veilgraph_contract::{Randomness, StageRng};
use veilgraph_privacy::DegreeNoise;
use veilgraph_privacy::count_noise::CountNoise;
use veilgraph_privacy::randomized_response::RandomizedResponse as StageResponse;

use super::*;
use crate::{Mechanism, draw_from};

const NEIGHBOURS: [u32; 6] = [0, 2, 63, 64, 300, 999];

fn parameters(mechanism: Mechanism, links: f64, degree: f64) -> PublicParameters {
    PublicParameters::new("town", mechanism, 1000, links, degree, 1).expect("usable")
}

/// The stage `privatize` takes these streams and these samplers: see `stages/privatize/src/links.rs`.
#[test]
fn a_device_draws_what_the_stage_draws() {
    for (epsilon, trial) in [0.1, 0.5, 1.0, 2.5, 4.0, 8.0, 10.0, 20.0].into_iter().zip(0..) {
        let source = StageRng::new(7, "privatize", trial);
        for (node, degree_epsilon) in [(1, 0.0), (70, 0.1), (500, epsilon)] {
            let list = StageResponse::new(epsilon, 1000).noisy_list(
                node,
                &NEIGHBOURS,
                &mut source.stream(&format!("links {epsilon:?}"), u64::from(node)),
            );
            let degree_stream = &mut source.stream(&format!("degree {degree_epsilon:?}"), u64::from(node));
            let degree = (degree_epsilon > 0.0).then(|| {
                let noise = CountNoise::new(degree_epsilon, DegreeNoise::DiscreteLaplace, 1).expect("representable");
                noise.add(NEIGHBOURS.len(), degree_stream)
            });
            let blink = parameters(Mechanism::Blink, epsilon, degree_epsilon);
            let report = draw_from(&source, &blink, node, &NEIGHBOURS).expect("drawn");
            assert!(report.is_simulated());
            assert_eq!((report.ones(), report.degree().map(|degree| degree as f64)), (&list[..], degree));
            let rr = draw_from(&source, &parameters(Mechanism::Rr, epsilon, 0.0), node, &NEIGHBOURS).expect("drawn");
            assert_eq!((rr.ones(), rr.degree()), (&list[..], None));
            let symrr = draw_from(&source, &parameters(Mechanism::SymRr, epsilon, 0.0), node, &NEIGHBOURS);
            let below: Vec<u32> = list.iter().copied().filter(|&other| other < node).collect();
            assert_eq!(symrr.expect("drawn").ones(), below);
        }
    }
}

/// One of the two parts may have no budget; then it is not sent.
#[test]
fn a_part_without_budget_is_not_sent() {
    let source = StageRng::from_os(&[3; 32]);
    assert_eq!(source.randomness(), Randomness::Os);
    let degree_alone = draw_from(&source, &parameters(Mechanism::Blink, 0.0, 2.0), 5, &NEIGHBOURS).expect("drawn");
    assert!(degree_alone.ones().is_empty() && degree_alone.degree().is_some() && !degree_alone.is_simulated());
    let list_alone = draw_from(&source, &parameters(Mechanism::Blink, 2.0, 0.0), 5, &NEIGHBOURS).expect("drawn");
    assert!(!list_alone.ones().is_empty() && list_alone.degree().is_none());
}

#[test]
fn a_list_that_is_none_is_refused() {
    let rr = parameters(Mechanism::SymRr, 1.0, 0.0);
    let refused = |node: u32, list: &[u32]| {
        let [mut links, mut degree] = [1, 2].map(ChaCha20Rng::seed_from_u64);
        draw(&rr, node, list, &mut links, &mut degree).expect_err("refused")
    };
    assert_eq!(refused(1000, &[]), ReportError::NoSuchNode { node: 1000, n_nodes: 1000 });
    assert_eq!(refused(5, &[3, 3]), ReportError::NotAscending(3));
    assert_eq!(refused(5, &[3, 5]), ReportError::NamesItself(5));
    assert_eq!(refused(5, &[3, 1000]), ReportError::OutOfRange { other: 1000, length: 1000 });
}
