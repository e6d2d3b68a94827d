//! What the budget of an experiment protects: by it, scores are read, and floors and ceilings are told from methods.

use std::collections::BTreeMap;

use veilgraph_contract::Relation;
use veilgraph_evaluate::Cell;
use veilgraph_runner::systems::CENTRAL;

use super::summary::Row;

/// What an experiment spends its budget on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protected {
    /// Links, and perhaps features and labels beside them.
    Links,
    /// Features, with links that are public.
    Features,
    /// Labels, with links and features that are public.
    Labels,
    /// Nodes or links in a model that a curator trains.
    Model,
}

/// What a row stands for among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It does without what is protected, so that a budget has to buy more than it gives.
    Floor,
    /// It protects nothing, so that nothing that does should give more.
    Ceiling,
    /// It is what the experiment is about.
    Private,
}

impl Protected {
    /// What these rows of an experiment are about.
    pub(crate) fn of(rows: &[&Row]) -> Self {
        let mut kinds = [Self::Links, Self::Features, Self::Labels].into_iter();
        if rows.iter().any(|row| row.cell.mechanism == CENTRAL) {
            return Self::Model;
        }
        kinds.find(|kind| rows.iter().any(|row| kind.budget(&row.cell).is_some())).unwrap_or(Self::Links)
    }

    /// What a cell spends on it, in nats; none where that is nothing or without bound.
    pub(crate) fn budget(self, cell: &Cell) -> Option<f64> {
        let cost =
            |relation: &Relation| cell.costs.iter().find(|cost| cost.relation == *relation).map(|cost| cost.epsilon);
        let spent = match self {
            Self::Links => Some(cell.epsilon),
            Self::Features => cost(&Relation::NodeFeatures),
            Self::Labels => cost(&Relation::Label),
            Self::Model => MODEL.iter().filter_map(cost).find(|cost| cost.is_finite()),
        };
        spent.filter(|&nats| nats > 0.0 && nats.is_finite())
    }

    /// The field of a config that says how much.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Links => "privatize.links.epsilon",
            Self::Features => "privatize.features.epsilon",
            Self::Labels => "privatize.labels.epsilon",
            Self::Model => "train.epsilon",
        }
    }

    /// What a cell's budget is about, in words.
    pub(crate) fn unit(self, cell: &Cell) -> &'static str {
        let relation = match self {
            Self::Links => Relation::ListBit,
            Self::Features => Relation::NodeFeatures,
            Self::Labels => Relation::Label,
            Self::Model => {
                let is_paid = |relation: &&Relation| {
                    cell.costs.iter().any(|cost| cost.relation == **relation && cost.epsilon.is_finite())
                };
                MODEL.iter().find(is_paid).copied().unwrap_or(Relation::Node)
            }
        };
        relation.words()
    }

    /// The same budget by another relation, with what that protects.
    pub(crate) fn other_budget(self, cell: &Cell) -> Option<(f64, &'static str)> {
        match self {
            Self::Links => Some((cell.epsilon_edge, "undirected link")),
            Self::Features => {
                let cost = cell.costs.iter().find(|cost| cost.relation == Relation::FeatureCoord)?;
                Some((cost.epsilon, "feature"))
            }
            Self::Labels | Self::Model => None,
        }
    }

    /// What a cell stands for.
    pub(crate) fn standing(self, cell: &Cell) -> Standing {
        let is_unbounded = |relations: &[Relation]| {
            let mut mine = cell.costs.iter().filter(|cost| relations.contains(&cost.relation)).peekable();
            mine.peek().is_some() && mine.all(|cost| cost.epsilon.is_infinite())
        };
        match (self, cell.mechanism.as_str()) {
            (Self::Model, _) if cell.model == "dp-mlp" => Standing::Floor,
            (Self::Model, _) if is_unbounded(&MODEL) => Standing::Ceiling,
            (Self::Links, "no-links") => Standing::Floor,
            (Self::Links, "non-private" | "public") => Standing::Ceiling,
            (Self::Links, _) if cell.epsilon.is_infinite() => Standing::Ceiling,
            (Self::Features, _) if is_unbounded(&[Relation::NodeFeatures]) => Standing::Ceiling,
            // Features that nobody reports, and reports about a constant.
            (Self::Features, _) if self.budget(cell).is_none() => Standing::Floor,
            (Self::Labels, _) if self.budget(cell).is_none() => Standing::Ceiling,
            _ => Standing::Private,
        }
    }

    /// Whether a cell may stand beside another as this kind of reference: it costs no more of everything else where it is a
    /// floor, and just as much where it is a ceiling.
    pub(crate) fn may_stand_beside(self, reference: &Cell, cell: &Cell, standing: Standing) -> bool {
        let own: &[Relation] = match self {
            Self::Links => &LINKS,
            Self::Features => &[Relation::FeatureCoord, Relation::NodeFeatures, Relation::NodeAttrs],
            Self::Labels => &[Relation::Label, Relation::NodeAttrs],
            // Floors protect whole nodes, and others a node's own data: what they state is compared, whatever it protects.
            Self::Model => return state_the_same(reference, cell),
        };
        let others = |cell: &Cell| -> BTreeMap<Relation, f64> {
            let costs = cell.costs.iter().filter(|cost| !own.contains(&cost.relation) && cost.epsilon > 0.0);
            costs.map(|cost| (cost.relation, cost.epsilon)).collect()
        };
        let (theirs, ours) = (others(reference), others(cell));
        match standing {
            Standing::Floor => theirs.iter().all(|(relation, nats)| ours.get(relation).is_some_and(|own| nats <= own)),
            _ => theirs == ours,
        }
    }
}

/// Relations that protect links one by one.
pub(crate) const LINKS: [Relation; 2] = [Relation::ListBit, Relation::Edge];

/// Relations under which a curator's model is protected, the strongest first.
const MODEL: [Relation; 3] = [Relation::Node, Relation::OwnData, Relation::Edge];

/// Whether a mechanism on links draws no noise, for its budget is without bound: it is a ceiling beside its own budgets.
pub(crate) fn draws_no_noise_on_links(cell: &Cell) -> bool {
    cell.epsilon.is_infinite() && !matches!(cell.mechanism.as_str(), "non-private" | "public")
}

/// Whether a curator's model protects links one by one, and nothing else of a node.
pub(crate) fn protects_links_alone(cell: &Cell) -> bool {
    let is_node = |relation: Relation| matches!(relation, Relation::Node | Relation::OwnData);
    !cell.costs.iter().any(|cost| is_node(cost.relation) && cost.epsilon.is_finite())
}

/// Whether two models of a curator state the same cost, but for what calibration leaves.
pub(crate) fn state_the_same(a: &Cell, b: &Cell) -> bool {
    let stated = |cell: &Cell| {
        let cost = MODEL.iter().find_map(|relation| cell.costs.iter().find(|cost| cost.relation == *relation));
        cost.map_or(f64::INFINITY, |cost| cost.claimed_epsilon.unwrap_or(cost.epsilon))
    };
    let (a, b) = (stated(a), stated(b));
    a == b || (a - b).abs() <= 0.01 * a.min(b)
}
