//! The `[estimate]` table.

use serde::{Deserialize, Serialize};

use crate::{Degrees, Error, Solver};

/// How reports are read, every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Table")]
pub struct Params {
    /// The choice that decided what the table does not say.
    pub method: Method,
    /// What is believed before the bits are seen.
    pub prior: Prior,
    /// How noisy degrees are read.
    pub degrees: Degrees,
    /// If true, parameters are chosen so that the expected degree of every node, after its bits were seen, is its
    /// estimated degree. If false, as in the paper, only the prior has these degrees, and those of the posterior
    /// differ.
    #[serde(rename = "match")]
    pub match_degrees: bool,
    /// Whether links are likelier between nodes with likely neighbours in common; how much likelier is learned from
    /// the reports. Left out where a bit has less than 2 nats.
    pub triangles: bool,
    /// Whether the reports tell which features linked nodes share, beyond how similar they are. It needs the prior
    /// [`Prior::Blocks`], public features and labels.
    pub learned_score: bool,
    /// How the prior is fitted.
    pub solver: Solver,
    /// Ridge on the parameters of the beta model; a positive value gives every degree vector a fit.
    pub ridge: f64,
    /// Where degrees are matched, the penalty that draws the parameters of the nodes towards their mean. Left out, it is
    /// learned: one over the variance of the logarithm of degrees, if these were log-normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centred_ridge: Option<f64>,
    /// What to do about nodes that sent nothing.
    pub missing_nodes: MissingNodes,
}

/// Budget of a bit from which on reports tell common neighbours from noise (docs/benchmarks/estimators.md).
const LEAST_FOR_TRIANGLES: f64 = 2.0;

/// The table as it is written: a method, and what is said beside it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    method: Method,
    prior: Option<Prior>,
    degrees: Option<Degrees>,
    #[serde(rename = "match")]
    match_degrees: Option<bool>,
    triangles: Option<bool>,
    #[serde(default)]
    learned_score: bool,
    #[serde(default)]
    solver: Solver,
    #[serde(default)]
    ridge: f64,
    centred_ridge: Option<f64>,
    #[serde(default)]
    missing_nodes: MissingNodes,
}

/// A choice of everything else in `[estimate]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// As the paper does.
    Published,
    /// What the reports support: features and classes, degrees from double claims, matching, common neighbours.
    #[default]
    Best,
}

/// What to do about nodes that sent nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingNodes {
    /// Stop and name them.
    #[default]
    Refuse,
    /// Give them the mean degree, and weigh the claims of the others about them as one-sided.
    OneSided,
}

/// What is believed before the bits are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prior {
    /// Beta model: the random graph of maximum entropy with the given expected degrees.
    #[default]
    BetaModel,
    /// The same, with likelier links between nodes that resemble each other; how much likelier is learned from the
    /// reports.
    #[serde(rename = "beta-model+features")]
    BetaModelFeatures,
    /// Degree-corrected block model: links are likelier between nodes that resemble each other and between nodes of one
    /// class, and links tell classes. Both are learned from the reports. Where the server holds no labels, this is
    /// [`Self::BetaModelFeatures`].
    Blocks,
}

impl From<Table> for Params {
    fn from(table: Table) -> Self {
        let is_best = table.method == Method::Best;
        let (prior, degrees) = match table.method {
            Method::Published => (Prior::BetaModel, Degrees::Clipped),
            Method::Best => (Prior::Blocks, Degrees::EmpiricalBayesBits),
        };
        let match_degrees = table.match_degrees.unwrap_or(is_best);
        Self {
            method: table.method,
            prior: table.prior.unwrap_or(prior),
            degrees: table.degrees.unwrap_or(degrees),
            match_degrees,
            // Common neighbours are counted where expected links are.
            triangles: table.triangles.unwrap_or(is_best && match_degrees),
            learned_score: table.learned_score,
            solver: table.solver,
            ridge: table.ridge,
            centred_ridge: table.centred_ridge,
            missing_nodes: table.missing_nodes,
        }
    }
}

impl Params {
    /// Whether pairs may be told apart by bins (of similarity, of common neighbours).
    #[must_use]
    pub fn uses_bins(&self) -> bool {
        self.uses_features() || self.triangles
    }

    /// Whether the claims of pairs change the parameters of the posterior: by degrees that are read off them, by matching,
    /// or by bins.
    pub(crate) fn reads_claims(&self) -> bool {
        self.match_degrees || self.degrees == Degrees::EmpiricalBayesBits || self.uses_bins()
    }

    /// Whether every field makes sense by itself and with the others.
    ///
    /// # Errors
    /// When a ridge is no number of at least 0, is set where nothing is matched, or common neighbours are to be counted
    /// without matching.
    pub fn check(&self) -> Result<(), Error> {
        for (name, ridge) in [("ridge", self.ridge), ("centred_ridge", self.centred_ridge.unwrap_or(0.0))] {
            if !(ridge >= 0.0 && ridge.is_finite()) {
                return Err(Error::Ridge(name, ridge));
            }
        }
        if self.centred_ridge.is_some() && !self.match_degrees {
            return Err(Error::RidgeUnmatched);
        }
        if self.triangles && !self.match_degrees {
            return Err(Error::TrianglesUnmatched);
        }
        if self.learned_score && !self.uses_classes() {
            return Err(Error::LearnedScoreWithoutBlocks);
        }
        Ok(())
    }

    /// Whether similar pairs are read.
    #[must_use]
    pub fn uses_features(&self) -> bool {
        self.prior != Prior::BetaModel
    }

    /// Whether classes are believed together with links, where the server holds labels.
    #[must_use]
    pub fn uses_classes(&self) -> bool {
        self.prior == Prior::Blocks
    }

    /// Whether common neighbours are looked for at this budget of a bit.
    pub(crate) fn finds_triangles(&self, epsilon_links: f64) -> bool {
        self.triangles && epsilon_links >= LEAST_FOR_TRIANGLES && epsilon_links.is_finite()
    }
}
