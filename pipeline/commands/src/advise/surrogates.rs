//! What budgets are worth to a network, on graphs that take the place of the private one.

mod point;
mod public_graph;
mod surrogate;
mod training;
mod worth;

use veilgraph_runner::belief::{Knowledge, Question, Range};
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::output;
use veilgraph_store::Store;

use crate::cli::AdviseArguments;
use point::{Point, van_der_corput};
use public_graph::PublicGraph;
use surrogate::Surrogate;
use training::Training;
pub(super) use worth::{Help, Origin, Worth};

/// Surrogates that are drawn have no more nodes: a network is trained for every budget on each of them.
const MOST_NODES: u64 = 12_000;

/// Training nodes that a class has on average, and test nodes in all, at least.
const LEAST_NODES: f64 = 10.0;

/// Classes of nodes, as they are known.
#[derive(Clone, Copy)]
struct Classes {
    number: u32,
    homophily: Range,
}

/// Trains networks on every graph that is asked for: first those that are drawn, then public ones. What was trained before
/// is read from the store.
pub(super) fn worths(
    store: &Store,
    arguments: &AdviseArguments,
    knowledge: &Knowledge,
    questions: &[&Question],
) -> anyhow::Result<Vec<Worth>> {
    if arguments.surrogates == 0 && arguments.public_graphs == 0 {
        return Ok(Vec::new());
    }
    let classes = checked(arguments, knowledge, questions)?;
    // Before anything is trained, so that what is not at hand is said at once.
    let public_graphs = PublicGraph::nearest(knowledge, arguments.data_dir.as_deref(), arguments.public_graphs)?;
    for graph in &public_graphs {
        check_parts("--public-graphs", &graph.name, graph.classes(), graph.nodes, arguments)?;
    }
    let training = Training { store, arguments, knowledge, questions };
    let mut worths = Vec::new();
    if arguments.surrogates > 0 {
        worths.push(drawn(&training, classes)?);
    }
    if !public_graphs.is_empty() {
        worths.push(public(&training, public_graphs)?);
    }
    Ok(worths)
}

/// What is known of the classes, where networks can be trained.
fn checked(
    arguments: &AdviseArguments,
    knowledge: &Knowledge,
    questions: &[&Question],
) -> Result<Classes, ConfigError> {
    let (Some(number), Some(homophily)) = (knowledge.classes, &knowledge.homophily) else {
        let problem =
            "--surrogates, --public-graphs: networks classify nodes; give --classes, and --homophily if it is known";
        return Err(ConfigError(problem.to_owned()));
    };
    let other = questions.iter().find(|question| question.is_trained() && question.mechanism != "blink");
    if let (None, Some(other)) = (&knowledge.features_accuracy, other) {
        return Err(ConfigError(format!(
            "--surrogates, --public-graphs: without --features-accuracy, classes are learned from what is believed about \
             links, and `{}` leads to no beliefs; ask about blink",
            other.mechanism
        )));
    }
    if arguments.surrogates > 0 {
        let nodes = knowledge.nodes.min(MOST_NODES);
        let (asked, most) = (knowledge.mean_degree.range.high, (nodes - 1) as f64 / 4.0);
        if asked > most {
            return Err(ConfigError(format!(
                "--surrogates: a mean degree of {asked} is too large for surrogates of {nodes} nodes; at most {most:.0} is \
                 drawn"
            )));
        }
        check_parts("--surrogates", "a surrogate", number, nodes, arguments)?;
    }
    Ok(Classes { number, homophily: homophily.range })
}

/// Networks learn from labels, of which every class needs some, and are scored on some others.
fn check_parts(
    argument: &str,
    graph: &str,
    classes: u32,
    nodes: u64,
    arguments: &AdviseArguments,
) -> Result<(), ConfigError> {
    let training_share = LEAST_NODES * f64::from(classes) / nodes as f64;
    let test_share = LEAST_NODES / nodes as f64;
    let remedy = if training_share + 2.0 * test_share > 1.0 {
        format!("{nodes} nodes are too few for networks; ask without {argument}")
    } else if arguments.training_share < training_share {
        format!("give a --training-share of at least {}", (100.0 * training_share).ceil() / 100.0)
    } else if arguments.test_share() < test_share {
        "fewer than ten test nodes are left; give a smaller --training-share".to_owned()
    } else {
        return Ok(());
    };
    Err(ConfigError(format!(
        "{argument}: every one of {classes} classes needs ten training nodes, and {graph} has {nodes} nodes: {remedy}"
    )))
}

/// Draws surrogates and trains networks on them.
fn drawn(training: &Training, classes: Classes) -> anyhow::Result<Worth> {
    let Training { arguments, knowledge, .. } = *training;
    let nodes = knowledge.nodes.min(MOST_NODES);
    let mut worth = Worth::new(Origin::Drawn { nodes });
    for number in 0..arguments.surrogates {
        // The first surrogate lies in the middle of what is known. The others spread evenly over it.
        // The second number of the sequence is the first one that does not lie in the middle again.
        let place = |base: u32| if number == 0 { 0.5 } else { van_der_corput(number + 1, base) };
        let mut point = Point {
            nodes,
            mean_degree: knowledge.mean_degree.range.at(place(2)),
            degree_spread: knowledge.degree_spread.range.at(place(3)),
            homophily: classes.homophily.at(place(5)),
            classes: classes.number,
            features_accuracy: knowledge.features_accuracy.as_ref().map(|known| known.range.at(place(7))),
            topic_share: 0.5,
            seed: number,
        };
        if let Some(accuracy) = point.features_accuracy {
            point.topic_share = training.topic_share(point, accuracy)?;
        }
        output::error_line(&format!("surrogate {} of {}: {point}", number + 1, arguments.surrogates));
        training.train(&Surrogate::Drawn(point), &format!("advise-{number}"), &mut worth)?;
    }
    Ok(worth)
}

/// Trains networks on public graphs.
fn public(training: &Training, graphs: Vec<PublicGraph>) -> anyhow::Result<Worth> {
    let mut worth = Worth::new(Origin::Public);
    let number_of_graphs = graphs.len();
    for (number, graph) in (1..).zip(graphs) {
        output::error_line(&format!("public graph {number} of {number_of_graphs}: {graph}"));
        let run = format!("advise-{}", graph.name);
        training.train(&Surrogate::Public(graph), &run, &mut worth)?;
    }
    Ok(worth)
}
