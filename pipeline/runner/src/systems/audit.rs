//! Attacks on graphs and networks: one file for each, and its name in the list of this file. Without the table `[audit]`
//! nothing is attacked.

mod attributes;
mod canaries;
mod canary_model;
mod features;
mod inductive;
mod linkteller;
mod membership;
mod posterior_similarity;
mod reports;
mod shadow_model;

use serde::{Deserialize, Serialize};
use toml::Value;
use veilgraph_contract::Zone;
use veilgraph_evaluate::{ClaimParams, EvaluateAttack, EvaluateClaims};
use veilgraph_graph::Propagation;

use crate::config::ConfigError;
use crate::config::sweep::fields_of;
use crate::function::{Function, function};
use crate::plan::{Branch, Plan, Run};
use crate::systems::choice::Choice;
pub(super) use canaries::planted;
pub(super) use canary_model::planted as planted_for_model;

/// The table of all attacks.
pub(super) const TABLE: &str = "audit";

/// A value of `[audit] attacks`, and all that the runner has to know about it.
struct Attack {
    /// The value.
    name: &'static str,
    /// What is attacked.
    on: On,
    /// Whether links are what it wants to know.
    is_about_links: fn(&Plan) -> bool,
    /// Names of the parameters that the attack reads.
    fields: fn() -> Vec<String>,
    /// Attacks, and scores the attack.
    run: RunAttack,
    /// Stage functions that this attack alone has.
    functions: &'static [Function],
}

/// Attacks these under every cell of its parameters; the numbers are beliefs.
type RunAttack = fn(&mut Plan, &[Branch], &[f64]) -> Result<(), ConfigError>;

/// What an attack is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    /// Reports and the graphs that were built from them.
    Graphs,
    /// Networks that were trained on the graphs.
    Networks,
    /// Models of a curator.
    Models,
}

/// What a config makes that can be attacked.
#[derive(Clone, Copy, Default)]
pub(super) struct Attacked<'a> {
    /// Reports and graphs.
    pub graphs: &'a [Branch],
    /// Networks that were trained on the graphs.
    pub networks: &'a [Branch],
    /// Models of a curator.
    pub models: &'a [Branch],
}

const ATTACKS: &[Attack] = &[
    linkteller::ATTACK,
    posterior_similarity::ATTACK,
    shadow_model::ATTACK,
    inductive::ATTACK,
    reports::ATTACK,
    features::ATTACK,
    membership::ATTACK,
    attributes::ATTACK,
    canaries::REPORTS,
    canaries::DEGREES,
    canaries::GRAPH,
    canaries::NETWORK,
    canary_model::ATTACK,
];

/// Stage functions of the attacks, and those that score what attacks on links say.
pub(crate) fn functions() -> impl Iterator<Item = &'static Function> {
    const SHARED: &[Function] = &[function::<EvaluateAttack>(), function::<EvaluateClaims>()];
    ATTACKS.iter().flat_map(|attack| attack.functions).chain(SHARED)
}

/// For attacks that always are about links, and for those that never are.
fn always(_: &Plan) -> bool {
    true
}

/// See [`always`].
fn never(_: &Plan) -> bool {
    false
}

/// What every attacker believes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Beliefs {
    /// Numbers of links, as multiples of the true number among the attacked pairs.
    beliefs: Vec<f64>,
}

impl Default for Beliefs {
    /// From a quarter to four times the truth (Wu, Long, Zhang, Li 2022, section VII).
    fn default() -> Self {
        Self { beliefs: vec![0.25, 0.5, 1.0, 2.0, 4.0] }
    }
}

/// Fields of the table.
pub(super) fn fields_of_attacks() -> Vec<String> {
    let own = ["attacks".to_owned()].into_iter().chain(fields_of::<Beliefs>());
    own.chain(ATTACKS.iter().flat_map(|attack| (attack.fields)())).collect()
}

/// Whether the config attacks networks, so that they have to be trained although nobody scores their accuracy.
pub(super) fn attacks_networks(plan: &Plan) -> bool {
    let named = plan.config.values(TABLE, "attacks");
    let is_on_networks =
        |attack: &Attack| attack.on == On::Networks && (named.is_empty() || named.contains(&Value::from(attack.name)));
    plan.config.tables.contains_key(TABLE) && ATTACKS.iter().any(is_on_networks)
}

/// Every attack that the config names, on all that it is about.
pub(super) fn audit(plan: &mut Plan, all: Attacked) -> Result<(), ConfigError> {
    if !plan.config.tables.contains_key(TABLE) {
        return Ok(());
    }
    let field = format!("{TABLE}.attacks");
    let cells = plan.cells::<Beliefs>(TABLE, &["beliefs"], check_beliefs)?;
    let beliefs = cells.into_iter().next().map(|cell| cell.params.beliefs).unwrap_or_default();
    let choice = Choice {
        table: TABLE,
        field: "attacks",
        default: linkteller::ATTACK.name,
        known: ATTACKS,
        name: |attack| attack.name,
    };
    let follow = |plan: &mut Plan, attack: &Attack, _: Branch| {
        if (attack.is_about_links)(plan) && all.graphs.iter().any(|graph| graph.mechanism == "public") {
            let problem = format!(
                "`{}` is about links, and links that a config declares public are no secret to attack; write mechanism = \
                 \"non-private\" for private links that are given away",
                attack.name
            );
            return Err(plan.config.error(&field, &problem));
        }
        let (attacked, what) = match attack.on {
            On::Graphs => {
                (all.graphs, "what nodes report, and a curator releases a model: choose \"canary-model\" for it")
            }
            On::Networks => (
                all.networks,
                "networks that classify nodes, and none is trained here: data with features and labels, and [train] task = \
                 \"classify\", train one",
            ),
            On::Models => (
                all.models,
                "models of a curator, and none is trained here: [train] task = \"dp-mlp\", \"gap\", \"progap\", \"dp-sage\" or \
                 \"dpar\" trains one",
            ),
        };
        // Coins that decided something else stand in another part of the config.
        let guesses_coins = attack.name.starts_with("canary-");
        let has_coins = |branch: &&Branch| !guesses_coins || branch.has_named("canaries", Zone::Auditor);
        let attacked: Vec<&Branch> = attacked.iter().filter(has_coins).collect();
        // A reference or an alternative may have nothing to attack; others of the config may.
        if attacked.is_empty() && plan.config.alternative.is_some() {
            tracing::info!("`{}` attacks nothing of {}", attack.name, plan.config.label.join(", "));
            return Ok(Vec::new());
        }
        if attacked.is_empty() {
            let problem = format!("`{}` attacks {what}", attack.name);
            return Err(plan.config.error(&field, &problem));
        }
        let name = plan.config.choice(TABLE, "attack", attack.name.into());
        let scored = attacked.into_iter().filter(|branch| branch.is_scored(plan.config.trials));
        let named: Vec<Branch> = scored.map(|branch| branch.with(std::slice::from_ref(&name))).collect();
        (attack.run)(plan, &named, &beliefs)?;
        Ok(Vec::new())
    };
    choice.each(plan, &Branch::default(), follow).map(|_| ())
}

fn check_beliefs(Beliefs { beliefs }: &mut Beliefs) -> Result<(), String> {
    match beliefs.iter().find(|belief| !(**belief > 0.0 && belief.is_finite())) {
        Some(wrong) => Err(format!("beliefs are positive multiples of the true number of links, and {wrong} is not")),
        None => Ok(()),
    }
}

/// Refuses networks whose graph nobody else holds.
fn refuse_learned_links(plan: &Plan, networks: &[Branch]) -> Result<(), ConfigError> {
    if networks.iter().all(|network| network.variant != "learned") {
        return Ok(());
    }
    let problem = "linkteller and canary-network need the weights of links, and solitude learns them with the model, which \
                   does not hold them; leave solitude or these attacks out";
    Err(plan.config.error(&format!("{TABLE}.attacks"), problem))
}

/// Refuses networks that read features of a whole neighbourhood, for an attack that changes or gives those of single nodes.
fn refuse_averaged_features(plan: &Plan, networks: &[Branch], attack: &str) -> Result<(), ConfigError> {
    let Some(network) = networks.iter().find(|network| network.propagation != Propagation::default()) else {
        return Ok(());
    };
    let hops = network.propagation.hops;
    let problem = format!(
        "`{attack}` asks about the features of single nodes, and in a part of this config they are averaged over {hops} hops or \
         rescaled before a network reads them (feature-free averages over 8 hops unless `hops` says otherwise); set \
         [estimate.features] hops = 0 and leave `rescale` out, or leave the attack out of that part"
    );
    Err(plan.config.error(&format!("{TABLE}.attacks"), &problem))
}

/// One attack on links under every cell of its parameters, and scores of how it ranks pairs and of what attackers of these beliefs
/// claim. The pool is part of what a score is about, swept or not.
fn attack_links<S: veilgraph_contract::Stage>(
    plan: &mut Plan,
    attacked: &[Branch],
    pool: impl Fn(&S::Params) -> veilgraph_audit::Pool,
    beliefs: &[f64],
) -> Result<(), ConfigError> {
    let mut scores = Vec::new();
    for cell in plan.cells_of::<S>(TABLE, &["beliefs"])? {
        let pool = plan.config.choice(TABLE, "pool", pool(&cell.params).to_string().into());
        for branch in attacked {
            let branch = branch.with(&cell.choices).with(std::slice::from_ref(&pool));
            scores.push(plan.run::<S>(&[&branch], &cell.params, Run { table: TABLE, ..Run::default() })?);
        }
    }
    plan.score::<EvaluateAttack>(&scores)?;
    for &belief in beliefs {
        let choice = plan.config.choice(TABLE, "belief", belief.into());
        let params = |of: veilgraph_evaluate::Params| ClaimParams { cell: of.cell, trial: of.trial, belief };
        plan.score_under::<EvaluateClaims>(&scores, &[choice], params)?;
    }
    Ok(())
}
