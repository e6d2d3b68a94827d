use veilgraph_contract::{Cost, Relation};
use veilgraph_graph::{SparseMatrix, Split};

use super::*;

/// Two communities; every node has the word of its own community, and one that says nothing.
fn data() -> Data {
    let n = 400_u32;
    let class = |node: u32| (node % 2) as u16;
    let pairs = (0..n).flat_map(|i| [(i, (i + 2) % n), (i, (i + 6) % n)]).map(|(i, j)| (i.min(j), i.max(j)));
    let links = AdjacencyList::from_pairs(n as usize, pairs).expect("a graph");
    let row = |node: u32| {
        let word = if (node * 13 / 7).is_multiple_of(5) { 1 - class(node) } else { class(node) };
        vec![(u32::from(word), 1.0_f32), (2 + node % 3, 1.0)]
    };
    let features = SparseMatrix::from_rows(5, (0..n).map(row)).expect("features");
    let split = |node: u32| match node / 40 {
        0..=6 => Split::Train,
        7 => Split::Validation,
        _ => Split::Test,
    };
    let splits: Vec<Split> = (0..n).map(split).collect();
    let known = (0..n).filter(|&node| split(node) != Split::Test).map(|node| (node, class(node))).collect();
    let nodes = Nodes { dataset: "two".into(), n_classes: 2, splits, nodes_from_links: false, class_names: Vec::new() };
    Data::new(nodes, links, &features, &Labels::new(2, known).expect("labels")).expect("data")
}

fn learned<L: Learner>(data: &Data, params: &Params) -> Learned {
    let noise = L::guarantee(params).expect("a guarantee").multipliers;
    let (rng, progress) = (StageRng::new(1, "train", 0), Progress::none());
    L::learn(data, &Training { params, noise: &noise, rng: &rng, progress: &progress }).expect("a model")
}

fn accuracy<L: Learner>(text: &str) -> f64 {
    let data = data();
    let params = L::complete(toml::from_str(text).expect("parameters"));
    let learned = learned::<L>(&data, &params);
    assert!(!learned.model.parameters.is_empty());
    let test = data.nodes.members(Split::Test);
    let is_right = |node: &&u32| {
        let row = &learned.probabilities[**node as usize * 2..**node as usize * 2 + 2];
        u32::from(row[1] > row[0]) == **node % 2
    };
    test.iter().filter(is_right).count() as f64 / test.len() as f64
}

/// The words are right for 4 of 5 nodes, and neighbours are of one community, so that links correct the words.
#[test]
fn links_correct_what_features_say() {
    let common = "dp_delta = 1e-4\nepochs = 40\nsampling_rate = 0.25\nhidden = 16\nlearning_rate = 0.02";
    let without_noise = format!("epsilon = inf\n{common}");
    let perceptron = accuracy::<DpMlp>(&without_noise);
    assert!((0.7..=0.85).contains(&perceptron), "{perceptron}");
    for (name, found) in [
        ("gap", accuracy::<Gap>(&without_noise)),
        ("progap", accuracy::<ProGap>(&without_noise)),
        ("gap, edge", accuracy::<Gap>(&format!("level = \"edge\"\nepsilon = 8\n{common}"))),
        ("progap, node", accuracy::<ProGap>(&format!("max_degree = 4\nepsilon = 200\n{common}"))),
        ("dp-sage", accuracy::<Sage>(&without_noise)),
        ("dpar", accuracy::<Dpar>(&without_noise)),
    ] {
        assert!(found > 0.87, "{name}: {found}");
    }
    // A budget for nothing leaves nothing.
    let noisy = accuracy::<Gap>(&format!("level = \"edge\"\nepsilon = 0.01\n{common}"));
    assert!(noisy < 0.87, "{noisy}");
}

#[test]
fn a_guarantee_keeps_its_budget_and_nothing_cheap_is_stated_without_noise() {
    fn check<L: Learner>(text: &str, relation: Relation) {
        let params = |epsilon: &str| -> Params {
            L::complete(toml::from_str(&format!("epsilon = {epsilon}\ndp_delta = 1e-5\n{text}")).expect("parameters"))
        };
        for epsilon in [0.5, 2.0, 16.0] {
            let guarantee = L::guarantee(&params(&epsilon.to_string())).expect("a guarantee");
            let paid = guarantee.cost.epsilon();
            assert!(paid <= epsilon && paid > 0.97 * epsilon, "{} {epsilon}: {paid}", L::NAME);
            assert_eq!(guarantee.relation, relation);
            // Where links alone are protected, the ledger says what is not.
            let n_rows = if relation == Relation::Edge { 4 } else { 1 };
            assert_eq!(guarantee.releases().len(), n_rows);
        }
        let open = L::guarantee(&params("inf")).expect("a guarantee");
        assert_eq!(open.cost, Cost::Pure(f64::INFINITY), "{}", L::NAME);
        assert!(open.multipliers.iter().all(|noise| *noise == 0.0));
    }
    check::<DpMlp>("", Relation::Node);
    check::<Gap>("", Relation::OwnData);
    check::<Gap>("level = \"edge\"", Relation::Edge);
    check::<ProGap>("", Relation::OwnData);
    check::<Sage>("", Relation::OwnData);
    check::<Dpar>("", Relation::Node);
}

#[test]
fn the_paper_s_counting_of_links_is_stated_beside_what_holds() {
    let params: Params =
        toml::from_str("epsilon = 1\ndp_delta = 1e-5\nlevel = \"edge\"\naccounting = \"paper\"").expect("parameters");
    let guarantee = Gap::guarantee(&Gap::complete(params)).expect("a guarantee");
    let claimed = guarantee.claimed_epsilon.expect("a claim");
    assert!(claimed <= 1.0 && claimed > 0.98, "{claimed}");
    // Twice the squared sensitivity costs a little over √2 times as much.
    assert!((1.40..1.55).contains(&guarantee.cost.epsilon()), "{}", guarantee.cost.epsilon());
}

/// With the same words for two budgets, their difference would show the data behind one noise.
#[test]
fn releases_share_no_random_word() {
    let noise_of_a_step = |task: &str, epsilon: f64| -> Vec<f32> {
        let params: Params =
            toml::from_str(&format!("epsilon = {epsilon}\ndp_delta = 1e-4\nepochs = 1")).expect("parameters");
        let name = match task {
            "gap" => known::name_of::<Gap>(&Gap::complete(params)),
            _ => known::name_of::<ProGap>(&ProGap::complete(params)),
        };
        let rng = StageRng::new(1, "train", 0).for_release(&name);
        let mut words = rng.stream("aggregation: noise of hop 0", 0);
        (0..4).map(|_| rand::RngExt::random::<f32>(&mut words)).collect()
    };
    assert_eq!(noise_of_a_step("gap", 1.0), noise_of_a_step("gap", 1.0));
    assert_ne!(noise_of_a_step("gap", 1.0), noise_of_a_step("gap", 2.0));
    assert_ne!(noise_of_a_step("gap", 1.0), noise_of_a_step("progap", 1.0));
}

#[test]
fn refused_parameters_are_never_cheap() {
    let params: Params = toml::from_str("epsilon = 1\ndp_delta = 2.0").expect("parameters");
    let releases = TrainCentral::<DpMlp>::releases(&params);
    assert_eq!(releases[0].cost, Cost::Pure(f64::INFINITY));
}

#[test]
fn threads_change_no_byte() {
    let learn = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let params = Gap::complete(toml::from_str("epsilon = 4\ndp_delta = 1e-4\nepochs = 3").expect("parameters"));
            learned::<Gap>(&data(), &params).model
        })
    };
    assert_eq!(learn(1), learn(3));
}

/// What all nodes share must not depend on one of them: it would be released without noise.
#[test]
fn a_blanked_node_changes_the_rows_of_no_other_one() {
    let row = |node: u32, blanked: Option<u32>| -> Vec<(u32, f32)> {
        if blanked == Some(node) { Vec::new() } else { vec![(node % 5, 1.0 + node as f32), (5, 2.0)] }
    };
    let rows = |blanked: Option<u32>| {
        let features = SparseMatrix::from_rows(6, (0..9).map(|node| row(node, blanked))).expect("features");
        let nodes = Nodes {
            dataset: "nine".into(),
            n_classes: 2,
            splits: vec![Split::Train; 9],
            nodes_from_links: false,
            class_names: Vec::new(),
        };
        let links = AdjacencyList::from_pairs(9, [(0, 1)]).expect("a graph");
        let labels = Labels::new(2, (0..9).map(|node| (node, (node % 2) as u16)).collect()).expect("labels");
        Data::new(nodes, links, &features, &labels).expect("data").features
    };
    let (whole, blanked) = (rows(None), rows(Some(4)));
    for node in (0..9).filter(|node| *node != 4) {
        assert_eq!(whole.row(node), blanked.row(node));
        let square: f32 = whole.row(node).1.iter().map(|value| value * value).sum();
        assert!((square / crate::data::SQUARED_FEATURE_NORM - 1.0).abs() < 1e-5);
    }
}
