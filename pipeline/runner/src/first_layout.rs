//! Releases of deployments that were drawn before stage functions had names of their own (layout 1 of the store).
//!
//! Their recipes hold the parameters of all mechanisms and the mechanism's name among them. Nobody can draw these
//! releases again, so they are found by what they say instead of by their key.

use serde_json::{Map, Value};
use veilgraph_privacy::{DegreeFraction, Epsilon};
use veilgraph_store::{Entry, Found, Recipe, Store};

use crate::engine::DEPLOYED;

/// The entry of layout 1 that holds the release of `wanted`.
pub(crate) fn find_release(store: &Store, wanted: &Recipe) -> anyhow::Result<Option<Entry>> {
    for (stage, key) in store.keys()? {
        // Whether its files are sound is asked of the one that fits alone.
        let is_it = stage == wanted.stage && store.find(&stage, &key)?.is_some_and(|entry| is_same(&entry, wanted));
        if is_it && let Found::Whole(entry) = store.sound(&stage, &key)? {
            return Ok(Some(*entry));
        }
    }
    Ok(None)
}

/// Whether an entry of layout 1 is the release of a recipe of today.
fn is_same(entry: &Entry, wanted: &Recipe) -> bool {
    let recipe = &entry.manifest.recipe;
    let is_earlier = recipe.task.is_none() && recipe.code == DEPLOYED;
    let (Some(params), Some(task)) = (earlier_params(&recipe.params), &wanted.task) else { return false };
    let Some(now) = wanted.params.as_object() else { return false };
    is_earlier
        && recipe.inputs == wanted.inputs
        && earlier_task(&recipe.params).as_ref() == Some(task)
        && now.iter().all(|(name, value)| params.get(name) == Some(value) || is_rule_for(name, value, params))
}

/// Whether the earlier parameters name a rule that comes to this share of the budget.
fn is_rule_for(name: &str, share: &Value, params: &Map<String, Value>) -> bool {
    let parsed = |field: &str| params.get(field).cloned();
    let fraction = parsed("degree_fraction").and_then(|rule| serde_json::from_value::<DegreeFraction>(rule).ok());
    let epsilon = parsed("epsilon").and_then(|nats| serde_json::from_value::<Epsilon>(nats).ok());
    let Some((fraction, epsilon)) = fraction.zip(epsilon) else { return false };
    name == "degree_fraction" && share.as_f64() == Some(fraction.share(epsilon))
}

/// The table `[privatize.links]` of a recipe of layout 1; that of LDPGen stands beside its round.
fn earlier_params(params: &Value) -> Option<&Map<String, Value>> {
    params.get("links").unwrap_or(params).as_object()
}

/// Today's name of the stage function that a recipe of layout 1 speaks of.
fn earlier_task(params: &Value) -> Option<String> {
    let mechanism = earlier_params(params)?.get("mechanism")?.as_str()?;
    Some(match (mechanism, params.get("round")) {
        (mechanism, Some(round)) => format!("{mechanism}-round-{round}"),
        ("solitude", None) => "rr".to_owned(),
        (mechanism, None) => mechanism.to_owned(),
    })
}
