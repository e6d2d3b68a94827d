use veilgraph_contract::{Artifact, Column};

use super::*;

fn facts(links: f64, degree: f64) -> ReportFacts {
    ReportFacts {
        mechanism: "blink".to_owned(),
        epsilon: links + degree,
        epsilon_edge: 2.0 * (links + degree),
        degree_fraction: degree / (links + degree),
        budget: Budget { links, degree },
        degree_noise: DegreeNoise::DiscreteLaplace,
        randomness: Randomness::Seeded,
        nodes_from_links: false,
        lying_share: 0.0,
    }
}

/// The artifact from columns that a stranger wrote.
fn links_from(epsilon_links: f64, rows: &[(u32, u32)]) -> Result<NoisyLinks, Invalid> {
    let (sources, targets) = rows.iter().copied().unzip();
    let facts = facts(epsilon_links, 0.1).to_facts().with("n_nodes", 4);
    NoisyLinks::from_blocks(&facts, &mut std::iter::once(vec![Column::U32(sources), Column::U32(targets)]))
}

#[test]
fn impossible_lists_are_refused() {
    for epsilon in [1.0, 6.0] {
        assert!(links_from(epsilon, &[(0, 1), (0, 3), (3, 0)]).is_ok());
        assert!(
            links_from(epsilon, &[(0, 1), (2, 2)]).expect_err("diagonal").0.contains("node 2: its report sets its own")
        );
        assert!(links_from(epsilon, &[(0, 4)]).expect_err("range").0.contains("node 4 does not exist"));
    }
    assert!(links_from(6.0, &[(1, 3), (1, 0)]).expect_err("unsorted").0.contains("node 1"));
    assert!(links_from(6.0, &[(1, 3), (1, 3)]).expect_err("twice").0.contains("node 1"));
    assert!(links_from(6.0, &[(1, 3), (0, 3)]).expect_err("unsorted nodes").0.contains("node 0"));
}

#[test]
fn budgets_that_do_not_add_up_are_refused() {
    let forged = facts(1.0, 0.5).to_facts().with("epsilon_links", 7.0).with("n_nodes", 4);
    let error = NoisyLinks::from_blocks(&forged, &mut std::iter::empty()).expect_err("forged");
    assert!(error.0.contains("are not the parts of epsilon 1.5"), "{error}");
    let infinite = facts(f64::INFINITY, 0.0).to_facts().with("n_nodes", 4).with("degree_fraction", 0);
    assert!(NoisyLinks::from_blocks(&infinite, &mut std::iter::empty()).is_ok());
}

#[test]
fn missing_nodes_are_named() {
    let degrees = NoisyDegrees::from_nodes(facts(1.0, 0.5), &[None, Some(3.0), None, Some(-1.0)]);
    assert_eq!(degrees.missing(), [0, 2]);
    let again = NoisyDegrees::from_blocks(&degrees.facts(), &mut degrees.blocks()).expect("round trip");
    assert_eq!(again, degrees);
    assert!(NoisyDegrees::none(facts(1.0, 0.0), 4).missing().is_empty(), "nobody was asked");
    let mut unsorted = degrees.clone();
    unsorted.senders.swap(0, 1);
    assert!(NoisyDegrees::from_blocks(&unsorted.facts(), &mut unsorted.blocks()).is_err());
    let mut broken = degrees;
    broken.degrees[1] = f64::NAN;
    let error = NoisyDegrees::from_blocks(&broken.facts(), &mut broken.blocks()).expect_err("not finite");
    assert!(error.0.contains("node 3: its degree NaN"), "{error}");
}

#[test]
fn the_footprint_is_that_of_bits_or_of_noise() {
    let bytes = |epsilon_links| {
        let facts = facts(epsilon_links, 0.1).to_facts().with("n_nodes", 1_000_000);
        NoisyLinks::footprint(&facts, 0).expect("facts") as f64
    };
    assert!((bytes(1.0) / 0.25e12 - 1.0).abs() < 1e-9, "two planes of bits");
    assert!((bytes(10.0) / 189.6e6 - 1.0).abs() < 1e-3, "4 bytes for each of 4.54e7 flips, 8 for each node");
    let lying = facts(10.0, 0.1).to_facts().with("n_nodes", 1_000_000).with("lying_share", 0.01);
    let more = NoisyLinks::footprint(&lying, 0).expect("facts") as f64 - bytes(10.0);
    assert!((more / 4e10 - 1.0).abs() < 1e-6, "liars may set all bits of their lists");
}

#[test]
fn only_sound_noise_of_the_operating_system_is_deployable() {
    let os = ReportFacts { randomness: Randomness::Os, ..facts(1.0, 0.1) };
    assert!(os.are_deployable() && !facts(1.0, 0.1).are_deployable());
    assert!(!ReportFacts { degree_noise: DegreeNoise::Laplace, ..os.clone() }.are_deployable());
    assert!(!ReportFacts { epsilon: f64::INFINITY, ..os.clone() }.are_deployable());
    assert!(!ReportFacts { nodes_from_links: true, ..os.clone() }.are_deployable());
    assert!(!ReportFacts { lying_share: 0.1, ..os.clone() }.are_deployable());
    let again = ReportFacts::from_facts(&os.to_facts()).expect("facts");
    assert_eq!(again, os);
}

/// Reports of ordinary runs keep their bytes: what is unusual about a run is a fact only where it is so.
#[test]
fn unusual_facts_are_written_only_where_they_hold() {
    let plain = facts(1.0, 0.1);
    let unusual = ReportFacts { nodes_from_links: true, lying_share: 0.25, ..plain.clone() };
    let names = |facts: &ReportFacts| facts.to_facts().0.into_keys().collect::<Vec<_>>();
    assert!(!names(&plain).iter().any(|name| name == "nodes_from_links" || name == "lying_share"));
    assert_eq!(names(&unusual).len(), names(&plain).len() + 2);
    assert_eq!(ReportFacts::from_facts(&unusual.to_facts()).expect("facts"), unusual);
    let forged = plain.to_facts().with("lying_share", 1.5);
    assert!(ReportFacts::from_facts(&forged).expect_err("no share").0.contains("lying_share 1.5"));
}
