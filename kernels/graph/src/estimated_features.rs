//! This module holds the features that a server works out where it is not given any.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone};

use crate::feature_matrix::{FEATURE_COLUMNS, FeatureMatrix};

/// Holds features that a server worked out from reports, or put in the place of features that nobody gave it.
///
/// The propagation is stated here and is computed where a graph is at hand: one table then serves every graph.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedFeatures {
    /// One row for each node, before they are propagated.
    pub values: FeatureMatrix,
    /// How the rows are averaged over the graph before a network reads them.
    pub propagation: Propagation,
}

/// Says how features are averaged over a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Propagation {
    /// The number of steps `K`; 0 leaves the features as they are.
    pub hops: u32,
    /// What `K` steps give.
    pub aggregator: Aggregator,
    /// How large the result is made.
    pub rescale: Rescale,
}

/// Says what several steps of propagation give. One step multiplies by `S = D^{-1/2} A D^{-1/2}`, without self-loops;
/// a node without links gets zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregator {
    /// The last step, `S^K X` (Sajadmanesh, Gatica-Perez 2021, LPGNN, algorithm 2).
    #[default]
    #[serde(rename = "kprop")]
    KProp,
    /// The mean of all steps, `(S + … + S^K) X / K`: the higher-order aggregator of UPGNET (2025).
    Hoa,
}

/// Says how large propagated features are made. Rectified reports are of the order of the number of features divided by
/// epsilon, and inputs of that size spoil training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rescale {
    /// They keep the size that makes them unbiased.
    #[default]
    None,
    /// They are divided by the root of their mean square over all nodes and features.
    RootMeanSquare,
}

macro_rules! named {
    ($type:ident, $what:literal, $($variant:ident => $name:literal),+) => {
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str(match self { $(Self::$variant => $name),+ })
            }
        }
        impl FromStr for $type {
            type Err = Invalid;
            fn from_str(text: &str) -> Result<Self, Invalid> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(Invalid(format!(concat!("`{}` is no ", $what), text))),
                }
            }
        }
    };
}
named!(Aggregator, "aggregator", KProp => "kprop", Hoa => "hoa");
named!(Rescale, "way to rescale", None => "none", RootMeanSquare => "root-mean-square");

impl EstimatedFeatures {
    /// Returns features that are used as they are.
    #[must_use]
    pub fn unpropagated(values: FeatureMatrix) -> Self {
        Self { values, propagation: Propagation::default() }
    }
}

// They are worked out from noisy reports, or from nothing that is private.
impl Public for EstimatedFeatures {}

impl Artifact for EstimatedFeatures {
    const NAME: &'static str = "estimated_features";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = FEATURE_COLUMNS;

    fn facts(&self) -> Facts {
        let Propagation { hops, aggregator, rescale } = self.propagation;
        self.values.facts().with("hops", hops).with("aggregator", aggregator).with("rescale", rescale)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        self.values.blocks()
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let propagation = Propagation {
            hops: facts.get("hops")?,
            aggregator: facts.get("aggregator")?,
            rescale: facts.get("rescale")?,
        };
        Ok(Self { values: FeatureMatrix::from_blocks(facts, blocks)?, propagation })
    }

    fn footprint(facts: &Facts, stored: u64) -> Result<u64, Invalid> {
        FeatureMatrix::footprint(facts, stored)
    }
}
