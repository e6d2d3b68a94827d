use veilgraph_contract::{NoParams, Progress, Stage};
use veilgraph_graph::{Features, SparseMatrix};
use veilgraph_nn::{Dataset, Device, Schedule, Setting, Trained, train};

use super::*;

const NODES: usize = 80_000;

/// Nodes of three classes, the last of which has twelve training nodes; three in five nodes are for training.
fn graph() -> (Nodes, HeldFeatures, Labels) {
    let class = |node: usize| if node.is_multiple_of(6_500) { 2 } else { node % 2 };
    let row = |node: usize| vec![(class(node) as u32, 1.0), (3 + (node * 7 % 11) as u32, 1.0)];
    let splits = [Split::Train, Split::Train, Split::Validation, Split::Train, Split::Test];
    let splits = (0..NODES).map(|node| if class(node) == 2 { Split::Train } else { splits[node % 5] }).collect();
    let nodes =
        Nodes { dataset: "large".into(), n_classes: 3, splits, nodes_from_links: false, class_names: Vec::new() };
    let features = SparseMatrix::from_rows(14, (0..NODES).map(row)).expect("valid");
    let labels = Labels::new(3, (0..NODES).map(|node| (node as u32, class(node) as u16)).collect()).expect("valid");
    (nodes, HeldFeatures::Public(Features(features)), labels)
}

fn rng() -> StageRng {
    StageRng::new(1, "similarity", 0)
}

#[test]
fn a_sample_is_a_small_graph_of_labelled_nodes() {
    let (nodes, features, labels) = graph();
    let sample = LabelledSample::of(&nodes, &features, &labels, &rng()).expect("48,000 training nodes");
    let n_of = |split: Split| sample.nodes.members(split).len();
    assert!((MOST_TRAINING - 20..MOST_TRAINING + 20).contains(&n_of(Split::Train)), "{}", n_of(Split::Train));
    assert!((MOST_VALIDATION - 20..=MOST_VALIDATION).contains(&n_of(Split::Validation)));
    assert_eq!(n_of(Split::Test), 0);
    assert!(sample.members.is_sorted());
    for (at, &node) in (0..).zip(&sample.members) {
        assert_eq!(sample.labels.class(at), labels.class(node), "{node}");
        assert_eq!(sample.nodes.splits[at as usize], nodes.splits[node as usize], "{node}");
    }
    let of_rare_class = sample.labels.classes().iter().filter(|&&(_, class)| class == 2).count();
    assert_eq!(of_rare_class, LEAST_OF_CLASS, "a share of 13 nodes would be 8");
    assert!(matches!(&sample.features, HeldFeatures::Public(part) if part.0.n_rows() == sample.members.len()));
}

#[test]
fn a_sample_depends_on_the_seed_alone() {
    let (nodes, features, labels) = graph();
    let members = |rng: &StageRng| LabelledSample::of(&nodes, &features, &labels, rng).expect("many").members;
    assert_eq!(members(&rng()), members(&rng()));
    assert_ne!(members(&rng()), members(&StageRng::new(2, "similarity", 0)));
}

#[test]
fn a_graph_with_few_labels_has_a_sample_only_where_it_is_large() {
    let (mut nodes, features, labels) = graph();
    nodes.splits.iter_mut().skip(50_000).for_each(|split| *split = Split::Test);
    assert!(LabelledSample::of(&nodes, &features, &labels, &rng()).is_none(), "30,000 training nodes");
    nodes.splits.resize(MOST_NODES + 1, Split::Test);
    let sample = LabelledSample::of(&nodes, &features, &labels, &rng()).expect("many nodes");
    assert_eq!(sample.nodes.members(Split::Train).len(), nodes.members(Split::Train).len(), "all training nodes");
}

#[test]
fn beliefs_about_a_large_graph_come_from_the_sample() {
    let (nodes, features, labels) = graph();
    let HeldFeatures::Public(features) = features else { unreachable!("they are public") };
    let inputs = (nodes.clone(), Some(features), None, labels.clone());
    let believe =
        || crate::BelieveClasses::run(inputs.clone(), &NoParams {}, &rng(), &Progress::none()).expect("learned").0;
    let beliefs = believe();
    let likeliest = |node: u32| {
        let row = beliefs.row(node as usize);
        (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("three classes")
    };
    let test = nodes.members(Split::Test);
    let n_right = test.iter().filter(|&&node| labels.class(node) == Some(likeliest(node) as u16)).count();
    assert!(n_right as f64 > 0.99 * test.len() as f64, "{n_right} of {}", test.len());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    assert_eq!(one.install(believe), beliefs, "on one thread");
}

#[test]
fn a_perceptron_answers_by_blocks_as_it_answered_in_training() {
    let (nodes, features, labels) = graph();
    let options = NetworkOptions::default();
    let no_links = GraphOperator::explicit(&WeightedGraph::undirected(Construction::Hard, NODES, Vec::new()));
    let [training, validation] = [Split::Train, Split::Validation].map(|split| nodes.members(split));
    let dataset = Dataset::new(features.input(), no_links, Architecture::Mlp, options, &labels, &training, &validation);
    let setting = Setting { learning_rate: 0.1, weight_decay: 0.0, dropout: 0.0, initial_seed: 0 };
    let schedule = Schedule { epochs: 2, ..Schedule::default() };
    let mut trained = train(&dataset.expect("valid"), &[setting], schedule, Device::Cpu, &rng(), &Progress::none());
    let Trained { probabilities, parameters, .. } = trained.remove(0).expect("trains");
    assert_eq!(ask_perceptron(parameters, options, 3, &features), Ok(probabilities), "bit for bit");
}
