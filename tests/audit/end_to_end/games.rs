//! Repeated games: a coin decides one fact, a mechanism releases, an attacker guesses the coin; and so on.
//!
//! Many games bound epsilon from below as exactly as wanted, mechanism by mechanism, where a run with many canaries does
//! so once for everything that is released.

use std::io::Write;

use veilgraph_attack::{Canaries, PairScores};
use veilgraph_audit::{CanariesOf, GuessFromAttributes, PlantFeatures, PlantFeaturesParams, PlantLabels, PlantParams};
use veilgraph_bounds::Guesses;
use veilgraph_contract::{NoParams, Private, Stage};
use veilgraph_graph::{AdjacencyList, Features, Labels, SparseMatrix, WeightedGraph};
use veilgraph_privacy::{NoisyFeatures, NoisyLabels};
use veilgraph_privatize::Local;
use veilgraph_privatize::central::edgerand::EdgeRand;
use veilgraph_privatize::features::laplace::Laplace;
use veilgraph_privatize::features::multi_bit::MultiBit;
use veilgraph_privatize::features::one_bit::OneBit;
use veilgraph_privatize::features::piecewise::Piecewise;
use veilgraph_privatize::features::{FeatureMechanism, LocalFeatures};
use veilgraph_privatize::labels::LocalLabels;
use veilgraph_privatize::links::blink::Blink;
use veilgraph_privatize::links::dprr::Dprr;
use veilgraph_privatize::links::l_dpgcn::LDpGcn;
use veilgraph_privatize::links::rr::Rr;
use veilgraph_privatize::links::symrr::SymRr;

use crate::support::{guess, params, ring, rng, silent, with_coins};

/// Bounds at 99.9 % each; some forty of them, so that one in 25 audits of a fresh seed would raise a false alarm. The seed
/// is fixed, so a green audit stays green.
const ALPHA: f64 = 0.001;

/// Games of each mechanism at each budget: all of them in a full audit, which prints its table.
fn games() -> u32 {
    if std::env::var_os("AUDIT").is_some() { 20_000 } else { 2_000 }
}

/// A mechanism as a game.
struct Game {
    name: &'static str,
    /// What the coin decides.
    relation: &'static str,
    /// What the fact costs where a node's budget is 1 nat.
    cost: f64,
    /// The share of the cost that the games of a full audit must find at a budget of 1 nat. The fewer games of `make test`
    /// must find two thirds of that share.
    least: f64,
    /// Plays number `trial` at a budget.
    play: fn(f64, u32) -> Played,
}

/// What the attacker says about one coin, and how it fell.
struct Played {
    log_odds: f64,
    is_true: bool,
}

const GAMES: [Game; 11] = [
    Game { name: "rr", relation: "edge", cost: 2.0, least: 0.6, play: rr },
    Game { name: "symrr", relation: "edge", cost: 1.0, least: 0.75, play: symrr },
    Game { name: "blink, list", relation: "edge", cost: 2.0, least: 0.5, play: blink },
    Game { name: "dprr, list", relation: "edge", cost: 2.0, least: 0.5, play: dprr },
    Game { name: "l-dpgcn", relation: "edge", cost: 2.0, least: 0.6, play: l_dpgcn },
    Game { name: "edgerand", relation: "edge", cost: 1.0, least: 0.75, play: edgerand },
    Game { name: "one-bit", relation: "node-features", cost: 1.0, least: 0.6, play: one_bit },
    Game { name: "multi-bit", relation: "node-features", cost: 1.0, least: 0.75, play: multi_bit },
    Game { name: "laplace", relation: "node-features", cost: 1.0, least: 0.6, play: laplace },
    Game { name: "piecewise", relation: "node-features", cost: 1.0, least: 0.6, play: piecewise },
    Game { name: "randomized-response", relation: "label", cost: 1.0, least: 0.75, play: label },
];

#[test]
fn no_game_finds_more_than_epsilon() {
    say("| mechanism | relation | epsilon | games | guesses | right | confidence | lower bound | ceiling |");
    say("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    for Game { name, relation, cost, least, play } in GAMES {
        for budget in [0.5, 1.0, 2.0, 4.0] {
            let played: Vec<Played> = (0..games()).map(|trial| play(budget, trial)).collect();
            // The attacker passes over coins about which it is less sure than it could be.
            let surest = played.iter().map(|game| game.log_odds.abs()).fold(0.0, f64::max);
            let guessed = played.iter().filter(|game| game.log_odds.abs() > 0.75 * surest);
            let right = guessed.clone().filter(|game| (game.log_odds > 0.0) == game.is_true).count() as u64;
            let guesses = Guesses { made: guessed.count() as u64, right };
            let (bound, ceiling) = (guesses.epsilon_lower_bound(ALPHA), guesses.all_right().epsilon_lower_bound(ALPHA));
            let (claimed, confidence) = (cost * budget, 100.0 * (1.0 - ALPHA));
            say(&format!(
                "| {name} | {relation} | {claimed} | {} | {} | {right} | {confidence:.1} % | {bound:.3} | {ceiling:.1} |",
                games(),
                guesses.made
            ));
            assert!(bound <= claimed, "{name} at {budget}: {bound} exceeds {claimed}");
            assert!(bound > 0.0, "{name} at {budget}: the games found nothing");
            if budget == 1.0 {
                let least = if games() < 20_000 { least / 1.5 } else { least };
                assert!(bound >= least * claimed, "{name} at {budget}: only {bound} of {claimed}");
            }
        }
    }
}

fn say(line: &str) {
    if std::env::var_os("AUDIT").is_some() {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

fn epsilon<P: serde::de::DeserializeOwned>(budget: f64) -> P {
    params(&format!("epsilon = {budget:?}"))
}

/// A graph with one link that a coin decides.
fn one_coin(trial: u32) -> (AdjacencyList, Canaries) {
    with_coins(ring(16), 1, trial)
}

/// The only score with the side of the only coin.
fn played(scores: &PairScores, canaries: &Canaries) -> Played {
    Played { log_odds: scores.pairs[0].2, is_true: canaries.coins[0].2 }
}

macro_rules! game_of_lists {
    ($name:ident, $mechanism:ident, |$reports:ident| $lists:expr, $entries:expr) => {
        fn $name(budget: f64, trial: u32) -> Played {
            let (links, canaries) = one_coin(trial);
            let run =
                Local::<$mechanism>::run((Private(links),), &epsilon(budget), &rng("privatize", trial), &silent());
            let $reports = run.expect("reports");
            played(&guess(&canaries, $lists, $entries), &canaries)
        }
    };
}

game_of_lists!(rr, Rr, |reports| reports.0.collect().ok(), None);
game_of_lists!(symrr, SymRr, |reports| reports.0.collect().ok(), None);
game_of_lists!(blink, Blink, |reports| reports.0.collect().ok(), None);
game_of_lists!(dprr, Dprr, |reports| reports.0.collect().ok(), None);
game_of_lists!(l_dpgcn, LDpGcn, |reports| None, reports.0.collect().ok());

fn edgerand(budget: f64, trial: u32) -> Played {
    let (links, canaries) = one_coin(trial);
    let run = EdgeRand::run((Private(links),), &epsilon(budget), &rng("privatize", trial), &silent());
    let (graph,): (WeightedGraph,) = run.expect("releases");
    let (i, j, is_link) = canaries.coins[0];
    let is_released = graph.links().any(|(a, b, _)| (a.min(b), a.max(b)) == (i, j));
    Played { log_odds: if is_released { budget } else { -budget }, is_true: is_link }
}

/// Plays with all features of one of two nodes.
fn features<M: FeatureMechanism>(table: &str, trial: u32) -> Played {
    let rows = [vec![(0, 1.0)], vec![(1, 0.5)]];
    let features = Features(SparseMatrix::from_rows(3, rows).expect("valid"));
    let asked = PlantFeaturesParams { canaries: 1, range: Some([0.0, 1.0]) };
    let (planted, canaries) =
        PlantFeatures::run((Private(features),), &asked, &rng("audit", trial), &silent()).expect("plants");
    let run = LocalFeatures::<M>::run((planted,), &params(table), &rng("privatize", trial), &silent());
    judged(&canaries, Some(run.expect("reports").0), None)
}

fn of_all_features(budget: f64) -> String {
    format!("epsilon = {budget:?}\nbudget = \"per-node\"\ndimension = 3")
}

fn one_bit(budget: f64, trial: u32) -> Played {
    features::<OneBit>(&of_all_features(budget), trial)
}

fn multi_bit(budget: f64, trial: u32) -> Played {
    features::<MultiBit>(&format!("epsilon = {budget:?}\ncoordinates = 1"), trial)
}

fn laplace(budget: f64, trial: u32) -> Played {
    features::<Laplace>(&of_all_features(budget), trial)
}

fn piecewise(budget: f64, trial: u32) -> Played {
    features::<Piecewise>(&of_all_features(budget), trial)
}

fn label(budget: f64, trial: u32) -> Played {
    let labels = Labels::new(2, vec![(0, 1), (1, 0)]).expect("valid");
    let asked = PlantParams { canaries: 1, canaries_of: CanariesOf::Labels };
    let (planted, canaries) =
        PlantLabels::run((Private(labels),), &asked, &rng("audit", trial), &silent()).expect("plants");
    let run = LocalLabels::run((planted,), &epsilon(budget), &rng("privatize", trial), &silent());
    judged(&canaries, None, Some(run.expect("reports").0))
}

fn judged(canaries: &Canaries, features: Option<NoisyFeatures>, labels: Option<NoisyLabels>) -> Played {
    let inputs = (canaries.clone(), features, labels);
    let run = GuessFromAttributes::run(inputs, &NoParams {}, &rng("audit", 0), &silent());
    played(&run.expect("guesses").0, canaries)
}
