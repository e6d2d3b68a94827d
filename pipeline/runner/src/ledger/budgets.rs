//! The most that releases about the same nodes may cost, for each relation that the user bounds.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde::Deserialize;
use veilgraph_contract::{Relation, Release, Subject};
use veilgraph_privacy::Epsilon;

use super::charge::Spent;
use crate::plan::rounded;

/// `[privacy] budget`: a number of nats per list bit, or a table with a number of nats for each relation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Written")]
pub struct Budgets(BTreeMap<Relation, Epsilon>);

/// Budgets as a config writes them.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a positive number of nats per list bit, or a table of numbers by relation, such as \
                               { list-bit = 8, node-features = 1, label = 1 }"
)]
enum Written {
    PerListBit(Epsilon),
    ByRelation(BTreeMap<Relation, Epsilon>),
}

impl From<Written> for Budgets {
    fn from(written: Written) -> Self {
        match written {
            Written::PerListBit(epsilon) => Self(BTreeMap::from([(Relation::ListBit, epsilon)])),
            Written::ByRelation(budgets) => Self(budgets),
        }
    }
}

/// Most that the deltas of all releases under one relation may add up to. With a larger one, an epsilon says little:
/// with probability `dp_delta` a release may tell everything.
pub(crate) const MOST_DP_DELTA: f64 = 1e-5;

/// Under which relations a budget bounds what releases about a subject cost.
fn bounding(release: &Release) -> &[Relation] {
    match release.subject {
        Subject::Links | Subject::Degrees => &[Relation::ListBit, Relation::Edge],
        Subject::Features => &[Relation::NodeFeatures, Relation::NodeAttrs],
        Subject::Labels => &[Relation::Label, Relation::NodeAttrs],
        // A model states one relation, and no other one suffices to bound it.
        Subject::Model => std::slice::from_ref(&release.relation),
    }
}

impl Budgets {
    /// Whether nothing is bounded.
    pub fn are_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses releases that no budget bounds, or that exceed what the `spent` ones have left of one. `what` names the
    /// releases in the message, with its verb.
    ///
    /// # Errors
    /// The message names the relation, what is spent, what remains, and the remedy.
    pub fn check(&self, what: &str, releases: &[&Release], spent: &Spent) -> anyhow::Result<()> {
        for release in releases {
            let relations = bounding(release);
            let is_bounded = relations.iter().any(|relation| self.0.contains_key(relation));
            let names: Vec<&str> = relations.iter().map(|relation| relation.code()).collect();
            ensure!(
                is_bounded,
                "[privacy] budget does not bound releases about {}s; add {} to its table, remove the budget, or accept the \
                 release with --spend{}",
                release.subject.name(),
                names.join(" or "),
                self.about_nodes(release),
            );
        }
        for (&relation, &budget) in &self.0 {
            let [now, before]: [Vec<&Release>; 2] = [
                releases.iter().copied().filter(|release| costs_under(release, relation)).collect(),
                spent.releases.iter().filter(|release| costs_under(release, relation)).collect(),
            ];
            // A relation that the releases do not touch may be overspent from before; that is no reason to refuse them.
            if now.is_empty() {
                continue;
            }
            // Budgets add up the epsilons as they are stated. The smaller epsilon of a composed curve holds at a larger
            // delta, and a budget that shrank with every release would be none.
            let [cost, so_far] = [&now, &before].map(|rows| sum(rows.iter().copied()));
            let dp_delta: f64 = now.iter().chain(&before).map(|release| release.cost.dp_delta()).sum();
            ensure!(
                dp_delta <= MOST_DP_DELTA,
                "{what} a total dp_delta of {dp_delta} per {}, and at most {MOST_DP_DELTA} keeps a budget meaningful; choose a \
                 smaller dp_delta, release less, or accept the release with --spend",
                relation.words(),
            );
            ensure!(
                fits(cost, so_far, budget),
                "{what} {cost} nats per {words} and exceed the budget: {so_far} of {budget} nats are spent on {whose}, \
                 {left} remain; nothing was released. Lower epsilon, release less, reuse an earlier release, or accept the \
                 overspend with --spend",
                words = relation.words(),
                whose = spent.whose(),
                cost = rounded(cost),
                so_far = rounded(so_far),
                budget = budget.nats(),
                left = rounded(budget.nats() - so_far),
            );
        }
        Ok(())
    }

    /// What a budget of whole nodes means for a release about links.
    fn about_nodes(&self, release: &Release) -> &'static str {
        let is_about_links = matches!(release.subject, Subject::Links | Subject::Degrees);
        let bounds_nodes = self.0.contains_key(&Relation::Node) || self.0.contains_key(&Relation::OwnData);
        if is_about_links && bounds_nodes {
            ". What is released about links protects no whole node: by group privacy a node costs up to 2 (n - 1) times as \
             much as a list bit"
        } else {
            ""
        }
    }

    /// What is spent of each budget, in words.
    pub fn in_words(&self, spent: &Spent) -> String {
        if self.are_empty() {
            return "no budget is set".to_owned();
        }
        let one = |(&relation, budget): (&Relation, &Epsilon)| {
            let spent = sum(spent.releases.iter().filter(|release| costs_under(release, relation)));
            format!("{} of {} nats per {} are spent", rounded(spent), budget.nats(), relation.words())
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a release costs as much under `relation` as it is stated for: what protects a whole node protects its own data too.
fn costs_under(release: &Release, relation: Relation) -> bool {
    release.relation == relation || (release.relation == Relation::Node && relation == Relation::OwnData)
}

/// The epsilons of these releases together, in nats.
fn sum<'a>(releases: impl Iterator<Item = &'a Release>) -> f64 {
    // Floating-point sums of nothing are negative zero.
    releases.fold(0.0, |sum, release| sum + release.cost.epsilon())
}

/// Whether a further cost stays within the budget, in nats. Sums of decimals are off by some 1e-16.
fn fits(cost: f64, spent: f64, budget: Epsilon) -> bool {
    // An infinite budget, which says that nothing is to be protected, holds any cost.
    cost + spent <= (1.0 + 1e-12) * budget.nats()
}

#[cfg(test)]
mod tests {
    use veilgraph_contract::{Cost, Trust};

    use super::*;

    fn budgets(text: &str) -> Result<Budgets, toml::de::Error> {
        toml::from_str::<BTreeMap<String, Budgets>>(text).map(|mut table| table.remove("budget").expect("a budget"))
    }

    fn release(subject: Subject, relation: Relation, epsilon: f64) -> Release {
        let cost = Cost::Pure(epsilon);
        Release {
            noise: "any".into(),
            subject,
            trust: Trust::Local,
            relation,
            cost,
            sound: true,
            claimed_epsilon: None,
            why: String::new(),
        }
    }

    fn before(releases: &[&Release]) -> Spent {
        let releases = releases.iter().map(|&release| release.clone()).collect();
        let mut spent = Spent::nothing("p");
        spent.releases = releases;
        spent
    }

    /// A model that protects whole nodes also costs their own data, but a model that protects own data protects no node.
    #[test]
    fn what_protects_a_node_is_counted_for_its_own_data_too() {
        let [node, own_data] =
            [Relation::Node, Relation::OwnData].map(|relation| release(Subject::Model, relation, 2.0));
        let budget = budgets("budget = { node = 2, own-data = 3 }").expect("valid");
        budget.check("it costs", &[&own_data], &Spent::nothing("p")).expect("2 of 3 nats");
        let problem = budget.check("it costs", &[&own_data], &before(&[&node])).expect_err("4 of 3 nats");
        assert!(problem.to_string().contains("2 of 3 nats are spent on `p`"), "{problem}");
        budget.check("it costs", &[&node], &before(&[&own_data])).expect_err("4 of 3 nats, in the other order");
        let words = budget.in_words(&before(&[&node, &own_data]));
        assert!(words.contains("2 of 2 nats") && words.contains("4 of 3 nats"), "{words}");
    }

    #[test]
    fn a_number_bounds_list_bits_and_a_table_any_relation() {
        let links = release(Subject::Links, Relation::ListBit, 2.0);
        let features = release(Subject::Features, Relation::NodeFeatures, 2.0);
        let number = budgets("budget = 3").expect("valid");
        number.check("it costs", &[&links], &Spent::nothing("p")).expect("within the budget");
        let twice = number.check("it costs", &[&links], &before(&[&links])).expect_err("too much");
        assert!(twice.to_string().contains("2 of 3 nats are spent on `p`, 1 remain"), "{twice}");
        let unbounded = number.check("it costs", &[&features], &Spent::nothing("p")).expect_err("unbounded");
        assert!(unbounded.to_string().contains("node-features or node-attrs"), "{unbounded}");
        let table = budgets("budget = { list-bit = 2, node-features = 1 }").expect("valid");
        let problem = table.check("they cost", &[&links, &features], &Spent::nothing("p")).expect_err("too much");
        assert!(problem.to_string().contains("2 nats per node's features"), "{problem}");
    }

    /// Thrice 0.9 nats at a delta of 1e-6 are 2.7 nats, whatever a composed curve would say; and deltas add up too.
    #[test]
    fn releases_with_a_delta_add_up_like_others() {
        let gaussian = |dp_delta: f64| Release {
            cost: Cost::Approximate { epsilon: 0.9, dp_delta, rdp: vec![(2.0, 0.001), (64.0, 0.03)] },
            ..release(Subject::Features, Relation::NodeFeatures, 0.9)
        };
        let budget = budgets("budget = { node-features = 2 }").expect("valid");
        let one = gaussian(1e-6);
        budget.check("it costs", &[&one], &before(&[&one])).expect("1.8 of 2 nats");
        budget.check("it costs", &[&one], &before(&[&one, &one])).expect_err("2.7 of 2 nats");
        let problem = budget
            .check("it costs", &[&gaussian(0.6)], &Spent::nothing("p"))
            .expect_err("a delta that protects nobody");
        assert!(problem.to_string().contains("dp_delta of 0.6"), "{problem}");
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        for text in
            ["budget = 0", "budget = -1", "budget = \"much\"", "budget = { links = 1 }", "budget = { label = 0 }"]
        {
            let problem = budgets(text).expect_err(text).to_string();
            assert!(problem.contains("nats per list bit"), "{text}: {problem}");
        }
    }
}
