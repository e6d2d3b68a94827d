//! Weights of the trained networks.

use std::collections::BTreeMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Artifact, Attachment, Column, ColumnType, Facts, Invalid, Public, Zone};
use veilgraph_nn::{Architecture, NetworkOptions, Parameter, Setting};

/// Name of the entry of the file's metadata that says what network it holds.
const DESCRIPTION: &str = "veilgraph";

/// What networks of one grid have in common, and what tells them apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridDescription {
    /// Kind of network.
    pub architecture: Architecture,
    /// Choices inside the layers.
    pub options: NetworkOptions,
    /// Number of classes.
    pub n_classes: usize,
    /// Position in the grid, setting and lowest validation loss of every model that was trained.
    pub models: Vec<(u32, Setting, f64)>,
}

/// Parameters of every model at its best epoch: a table of shapes, and the values as safetensors.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelWeights {
    /// Whose parameters they are.
    pub description: GridDescription,
    /// Position in the grid, and the parameters.
    pub models: Vec<(u32, Vec<Parameter>)>,
}

// Functions of server artifacts alone.
impl Public for ModelWeights {}

impl Artifact for ModelWeights {
    const NAME: &'static str = "model";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("model", ColumnType::U32), ("name", ColumnType::Utf8), ("shape", ColumnType::ListU32)];

    fn facts(&self) -> Facts {
        Facts::default().with("values", "model.safetensors")
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let rows: Vec<_> = self.models.iter().flat_map(|(model, all)| all.iter().map(move |p| (*model, p))).collect();
        Box::new(std::iter::once(vec![
            Column::U32(rows.iter().map(|row| row.0).collect()),
            Column::Utf8(rows.iter().map(|row| row.1.name.clone()).collect()),
            Column::ListU32(rows.iter().map(|row| row.1.shape.map(|size| size as u32).to_vec()).collect()),
        ]))
    }

    fn from_blocks(_: &Facts, _: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        Err(Invalid("the values are in model.safetensors, which no stage reads".into()))
    }

    fn attachment(&self) -> Option<Attachment> {
        let bytes: BTreeMap<String, (Vec<u8>, [usize; 2])> = self
            .models
            .iter()
            .flat_map(|(model, all)| {
                all.iter().map(move |p| {
                    let bytes = p.values.iter().flat_map(|value| value.to_le_bytes()).collect();
                    (format!("model{model}.{}", p.name), (bytes, p.shape))
                })
            })
            .collect();
        let views = bytes.iter().map(|(name, (bytes, shape))| {
            let view = TensorView::new(Dtype::F32, shape.to_vec(), bytes);
            (name, view.unwrap_or_else(|error| unreachable!("a parameter has its shape: {error}")))
        });
        // One entry: the order of several would change from run to run.
        let text = serde_json::to_string(&self.description);
        let text = text.unwrap_or_else(|error| unreachable!("a description is plain data: {error}"));
        let metadata = [(DESCRIPTION.to_owned(), text)].into_iter().collect();
        let file = safetensors::serialize(views, Some(metadata));
        let file = file.unwrap_or_else(|error| unreachable!("names are distinct: {error}"));
        Some(Attachment { name: "model.safetensors", bytes: file })
    }
}

/// One trained network.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedModel {
    /// The grid that it is of.
    pub grid: GridDescription,
    /// Its position there.
    pub model: u32,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

impl SavedModel {
    /// Model `model` of a file `model.safetensors`, or the one with the lowest validation loss.
    ///
    /// # Errors
    /// When the bytes are no such file, or do not hold that model.
    pub fn parse(bytes: &[u8], model: Option<u32>) -> Result<Self, Invalid> {
        let wrong = |problem: String| Invalid(format!("{problem}; name a model.safetensors of the stage `train`"));
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| wrong(error.to_string()))?;
        let text = header.metadata().as_ref().and_then(|entries| entries.get(DESCRIPTION));
        let text = text.ok_or_else(|| wrong("the file does not say what network it holds".to_owned()))?;
        let grid: GridDescription = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let best = || grid.models.iter().min_by(|a, b| a.2.total_cmp(&b.2)).map(|best| best.0);
        let model = model.or_else(best).ok_or_else(|| wrong("the file holds no model".to_owned()))?;
        let file = SafeTensors::deserialize(bytes).map_err(|error| wrong(error.to_string()))?;
        let prefix = format!("model{model}.");
        let mut parameters = Vec::new();
        for (name, view) in file.tensors() {
            let Some(name) = name.strip_prefix(&prefix) else { continue };
            let (&[rows, columns], Dtype::F32) = (view.shape(), view.dtype()) else {
                return Err(wrong(format!("{name} is no matrix of 32-bit numbers")));
            };
            let values = view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            parameters.push(Parameter { name: name.to_owned(), shape: [rows, columns], values });
        }
        if parameters.is_empty() {
            let known: Vec<String> = grid.models.iter().map(|known| known.0.to_string()).collect();
            return Err(Invalid(format!("the file holds no model {model}; it holds {}", known.join(", "))));
        }
        // What a stranger wrote must not decide how much is allocated.
        let options = grid.options;
        if !(1..=parameters.len()).contains(&options.layers) || options.hidden == 0 || grid.n_classes == 0 {
            return Err(wrong(format!("it cannot hold a network of {} layers, as it says", options.layers)));
        }
        // The file lists names in the order of the alphabet, networks in that of their layers.
        let n_features = parameters.iter().find(|p| p.name.starts_with("layer1.weight")).map_or(0, |p| p.shape[0]);
        let order = grid.architecture.parameters(grid.options, n_features, grid.n_classes);
        parameters.sort_by_key(|parameter| order.iter().position(|(name, _)| *name == parameter.name));
        Ok(Self { grid, model, parameters })
    }
}
