//! Trained networks as a stranger's bytes: what a file `model.safetensors` holds, read without trusting it.
//!
//! The file holds every parameter of every model of a grid as a tensor `model3.layer1.weight`, and one entry of
//! metadata with the [`GridDescription`] as JSON.

use std::fmt::Display;

use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use veilgraph_contract::Invalid;

use crate::architecture::{Architecture, NetworkOptions, Parameter, named};
use crate::grid::Setting;

/// Name of the entry of the file's metadata that says what networks it holds.
pub(crate) const DESCRIPTION: &str = "veilgraph";

/// What networks of one grid have in common, and what tells them apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridDescription {
    /// Kind of network.
    pub architecture: Architecture,
    /// Choices inside the layers.
    pub options: NetworkOptions,
    /// Number of classes.
    pub n_classes: usize,
    /// What the classes are called, in the order of their numbers; empty where they are called by these numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
    /// Position in the grid, setting and lowest validation loss of every model that was trained.
    pub models: Vec<(u32, Setting, f64)>,
}

/// One trained network.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedModel {
    /// The grid that it is of.
    pub grid: GridDescription,
    /// Its position there.
    pub model: u32,
    /// Its parameters, layer by layer.
    pub parameters: Vec<Parameter>,
}

impl SavedModel {
    /// Model `model` of a file `model.safetensors`, or the one with the lowest validation loss.
    ///
    /// Sizes are only compared with each other here; whether they are those of the network is asked when it meets the
    /// features of a graph.
    ///
    /// # Errors
    /// When the bytes are no such file, or do not hold that model.
    pub fn parse(bytes: &[u8], model: Option<u32>) -> Result<Self, Invalid> {
        let file = ModelFile::open(bytes)?;
        let best = || file.grid.models.iter().min_by(|a, b| a.2.total_cmp(&b.2)).map(|best| best.0);
        let model = model.or_else(best).ok_or_else(|| wrong("the file holds no model"))?;
        let parameters = file.parameters(model)?;
        Ok(Self { grid: file.grid, model, parameters })
    }
}

/// A file of networks that is well-formed.
pub(crate) struct ModelFile<'a> {
    /// What the file says that it holds.
    pub grid: GridDescription,
    tensors: SafeTensors<'a>,
}

impl<'a> ModelFile<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// When the bytes are no file of networks.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Invalid> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(wrong)?;
        let text = header.metadata().as_ref().and_then(|entries| entries.get(DESCRIPTION));
        let text = text.ok_or_else(|| wrong("the file does not say what network it holds"))?;
        let grid = serde_json::from_str(text).map_err(wrong)?;
        Ok(Self { grid, tensors: SafeTensors::deserialize(bytes).map_err(wrong)? })
    }

    /// Number of tensors, of all models together.
    pub(crate) fn n_tensors(&self) -> usize {
        self.tensors.len()
    }

    /// Parameters of one model, layer by layer.
    ///
    /// # Errors
    /// When there are none, one is no matrix of 32-bit numbers, or their number cannot be that of the network.
    pub(crate) fn parameters(&self, model: u32) -> Result<Vec<Parameter>, Invalid> {
        let prefix = format!("model{model}.");
        let mut parameters = Vec::new();
        for (name, view) in self.tensors.tensors() {
            let Some(name) = name.strip_prefix(&prefix) else { continue };
            let (&[rows, columns], Dtype::F32) = (view.shape(), view.dtype()) else {
                return Err(wrong(format!("{name} is no matrix of 32-bit numbers")));
            };
            let values = view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            parameters.push(Parameter { name: name.to_owned(), shape: [rows, columns], values });
        }
        if parameters.is_empty() {
            let known: Vec<String> = self.grid.models.iter().map(|known| known.0.to_string()).collect();
            return Err(Invalid(format!("the file holds no model {model}; it holds {}", known.join(", "))));
        }
        let order = self.expected(&parameters)?;
        // The file lists names in the order of the alphabet, networks in that of their layers.
        parameters.sort_by_key(|parameter| order.iter().position(|(name, _)| *name == parameter.name));
        Ok(parameters)
    }

    /// Names and shapes that a network of this description has, given how many features these parameters are for.
    ///
    /// # Errors
    /// When no network has such sizes with as many parameters.
    pub(crate) fn expected(&self, parameters: &[Parameter]) -> Result<Vec<(String, [usize; 2])>, Invalid> {
        let GridDescription { architecture, options, n_classes, .. } = self.grid;
        // What a stranger wrote must not decide how much is allocated.
        if !(1..=parameters.len()).contains(&options.layers)
            || options.hidden == 0
            || options.heads == 0
            || n_classes == 0
        {
            return Err(wrong(format!("it cannot hold a network of {} layers, as it says", options.layers)));
        }
        let n_features = parameters.iter().find(|p| p.name.starts_with("layer1.weight")).map_or(0, |p| p.shape[0]);
        Ok(named(architecture.layers(options, n_features, n_classes)))
    }
}

/// An error about the file, with the remedy.
pub(crate) fn wrong(problem: impl Display) -> Invalid {
    Invalid(format!("{problem}; name a model.safetensors of the stage `train`"))
}
