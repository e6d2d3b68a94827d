use super::*;
use crate::{DpMlp, Gap, Learner, Sage};

fn params(text: &str) -> Params {
    toml::from_str(text).expect("parameters")
}

fn refusal<L: Learner>(text: &str) -> String {
    L::guarantee(&L::complete(params(text))).expect_err("refused").to_string()
}

#[test]
fn what_makes_no_sense_is_named() {
    let cases = [
        ("epsilon = 1\ndp_delta = 1e-5\nsampling_rate = 0.0", "sampling_rate = 0"),
        ("epsilon = 1\ndp_delta = 1e-5\nepochs = 0.0", "epochs = 0"),
        ("epsilon = 1\ndp_delta = 1e-5\nclip = 0.0", "clip = 0"),
        ("epsilon = 1\ndp_delta = 1e-5\ndropout = 1.0", "dropout = 1"),
        ("epsilon = 1\ndp_delta = 1.5", "dp_delta = 1.5"),
        ("epsilon = 1", "write dp_delta = NUMBER"),
    ];
    for (text, expected) in cases {
        let message = refusal::<DpMlp>(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
    assert!(refusal::<Gap>("epsilon = 1\ndp_delta = 1e-5\nhops = 17").contains("hops = 17"));
    assert!(refusal::<Sage>("epsilon = 1\ndp_delta = 1e-5\nmax_degree = 0").contains("max_degree = 0"));
}

#[test]
fn a_weak_delta_is_refused_unless_it_is_said() {
    let weak = params("epsilon = 1\ndp_delta = 2e-3");
    let message = weak.check_delta(2396, 2995).expect_err("too weak").to_string();
    assert!(message.contains("dp_delta = 2e-3 is above 1 / (10 · 2396 training nodes) = 4.2e-5"), "{message}");
    assert!(params("epsilon = 1\ndp_delta = 2e-3\nallow_weak_delta = true").check_delta(2396, 2995).is_ok());
    assert!(params("epsilon = 1\ndp_delta = 4e-5").check_delta(2396, 2995).is_ok());
    // The nodes of tests are protected too where their data are summed.
    let of_all = Gap::complete(params("epsilon = 1\ndp_delta = 4e-5"));
    let message = of_all.check_delta(2396, 2995).expect_err("too weak").to_string();
    assert!(message.contains("1 / (10 · 2995 nodes)"), "{message}");
}

#[test]
fn the_delta_of_a_known_graph_is_a_power_of_ten() {
    for (nodes, expected) in [(2708, 1e-5), (18_333, 1e-6), (100, 1e-3), (101, 1e-4)] {
        let mut params = params("epsilon = 1");
        params.complete_delta(Some(nodes), Some(1_000_000));
        let found = params.dp_delta.expect("a delta");
        assert!((found / expected - 1.0).abs() < 1e-12 && found <= 1.0 / (10.0 * nodes as f64), "{nodes}: {found}");
    }
    // Where links are protected, links count: one of 500,000 that is published at random would keep 1e-6.
    for (n_links, expected) in [(Some(500_000), 1e-7), (None, 1e-5)] {
        let mut of_links = params("epsilon = 1\nlevel = \"edge\"");
        of_links.complete_delta(Some(10_000), n_links);
        assert_eq!(of_links.dp_delta, Some(expected), "{n_links:?}");
    }
}

#[test]
fn what_a_learner_does_not_read_is_no_part_of_its_key() {
    let text = "epsilon = 1\nhops = 3\nmax_degree = 5\nvectors = 9";
    let perceptron = DpMlp::complete(params(text));
    assert!(perceptron.hops.is_none() && perceptron.max_degree.is_none() && perceptron.vectors.is_none());
    let edge = Gap::complete(params(&format!("{text}\nlevel = \"edge\"")));
    assert!(edge.hops == Some(3) && edge.max_degree.is_none() && edge.accounting.is_some());
}
