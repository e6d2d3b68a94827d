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
    /// [`Prior::Blocks`], public features and labels. Left out, it is so where these are at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned_score: Option<bool>,
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
    /// How many latent blocks take the place of classes where the prior is `blocks` and the server holds no labels.
    pub latent_blocks: LatentBlocks,
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
    learned_score: Option<bool>,
    #[serde(default)]
    solver: Solver,
    #[serde(default)]
    ridge: f64,
    centred_ridge: Option<f64>,
    #[serde(default)]
    missing_nodes: MissingNodes,
    #[serde(default)]
    latent_blocks: LatentBlocks,
}

/// A choice of everything else in `[estimate]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// As the paper does.
    Published,
    /// What the reports support: features and classes, a score of features that is learned from the reports, degrees from
    /// double claims, matching, common neighbours.
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

/// How many blocks of nodes are found from the reports where no class is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenBlocks", into = "WrittenBlocks")]
pub enum LatentBlocks {
    /// As many as make the reports about held-out pairs likeliest, or none.
    #[default]
    Auto,
    /// So many; 0 and 1 are none. Memory and time grow with the square of the number.
    Number(u8),
}

/// A number of blocks as a config writes it.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "latent_blocks is \"auto\" or a whole number from 0 to 255")]
enum WrittenBlocks {
    Number(u8),
    Name(String),
}

impl TryFrom<WrittenBlocks> for LatentBlocks {
    type Error = String;

    fn try_from(written: WrittenBlocks) -> Result<Self, String> {
        match written {
            WrittenBlocks::Number(number) => Ok(Self::Number(number)),
            WrittenBlocks::Name(name) if name == "auto" => Ok(Self::Auto),
            WrittenBlocks::Name(name) => {
                Err(format!("latent_blocks is \"auto\" or a whole number from 0 to 255, not \"{name}\""))
            }
        }
    }
}

impl From<LatentBlocks> for WrittenBlocks {
    fn from(blocks: LatentBlocks) -> Self {
        match blocks {
            LatentBlocks::Auto => Self::Name("auto".to_owned()),
            LatentBlocks::Number(number) => Self::Number(number),
        }
    }
}

impl LatentBlocks {
    /// Returns the number of blocks that is asked for, where it is more than one.
    #[must_use]
    pub fn asked_for(self) -> Option<u16> {
        match self {
            Self::Number(number) if number > 1 => Some(u16::from(number)),
            Self::Auto | Self::Number(_) => None,
        }
    }
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
    /// class, and links tell classes. Both are learned from the reports. Where the server holds no labels, latent blocks
    /// take the place of classes; without them this is [`Self::BetaModelFeatures`].
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
            latent_blocks: table.latent_blocks,
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
    /// When a ridge is no number of at least 0, `centred_ridge` is set where nothing is matched, `ridge` is set where nothing but the
    /// published iteration is run, common neighbours are to be counted without matching, or a score is to be learned or a number of
    /// latent blocks is set with a prior that has no blocks.
    pub fn check(&self) -> Result<(), Error> {
        for (name, ridge) in [("ridge", self.ridge), ("centred_ridge", self.centred_ridge.unwrap_or(0.0))] {
            if !(ridge >= 0.0 && ridge.is_finite()) {
                return Err(Error::Ridge(name, ridge));
            }
        }
        let fits_posterior = self.match_degrees || self.uses_bins();
        if self.ridge > 0.0 && self.solver == Solver::FixedPoint200 && !fits_posterior {
            return Err(Error::RidgeUnread);
        }
        if self.centred_ridge.is_some() && !self.match_degrees {
            return Err(Error::RidgeUnmatched);
        }
        if self.triangles && !self.match_degrees {
            return Err(Error::TrianglesUnmatched);
        }
        if self.learned_score == Some(true) && !self.uses_classes() {
            return Err(Error::LearnedScoreWithoutBlocks);
        }
        match self.latent_blocks.asked_for() {
            Some(blocks) if self.prior != Prior::Blocks => Err(Error::BlocksUnread(blocks)),
            _ => Ok(()),
        }
    }

    /// Whether a graph of `n_nodes` nodes can have the blocks that are asked for.
    ///
    /// # Errors
    /// When there are more blocks than nodes.
    pub fn check_nodes(&self, n_nodes: usize) -> Result<(), Error> {
        match self.latent_blocks.asked_for() {
            Some(blocks) if usize::from(blocks) > n_nodes => Err(Error::TooManyBlocks { blocks, n_nodes }),
            _ => Ok(()),
        }
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

    /// Whether a score is learned, where the server holds public features and labels.
    #[must_use]
    pub fn learns_score(&self) -> bool {
        self.uses_classes() && self.learned_score != Some(false)
    }

    /// Whether latent blocks are looked for, where the server holds no labels.
    #[must_use]
    pub fn finds_latent_blocks(&self) -> bool {
        self.prior == Prior::Blocks && !matches!(self.latent_blocks, LatentBlocks::Number(0 | 1))
    }

    /// Whether common neighbours are looked for at this budget of a bit.
    pub(crate) fn finds_triangles(&self, epsilon_links: f64) -> bool {
        self.triangles && epsilon_links >= LEAST_FOR_TRIANGLES && epsilon_links.is_finite()
    }
}
