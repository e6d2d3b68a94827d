//! Weights of the trained networks, as an artifact.

use std::borrow::Cow;
use std::collections::BTreeSet;

use safetensors::{Dtype, View};
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::architecture::Parameter;
use crate::saved_model::{DESCRIPTION, GridDescription, ModelFile, SavedModel, wrong};

/// Parameters of every model at its best epoch: a table of shapes, and the values as safetensors.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelWeights {
    /// Whose parameters they are. Where it was read back, its losses are exact up to one unit in the last place, as
    /// JSON readers are.
    pub description: GridDescription,
    /// Position in the grid, and the parameters, layer by layer; in the order of the description.
    pub models: Vec<(u32, Vec<Parameter>)>,
}

/// A row of the table of shapes.
#[derive(PartialEq)]
struct Row<'a> {
    model: u32,
    name: &'a str,
    shape: Vec<u32>,
}

/// A parameter as safetensors write it; its bytes are made when they are written, because those of a whole grid may be many.
struct Tensor<'a>(&'a Parameter);

impl View for Tensor<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }
    fn shape(&self) -> &[usize] {
        &self.0.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        self.0.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
    fn data_len(&self) -> usize {
        size_of_val(self.0.values.as_slice())
    }
}

impl ModelWeights {
    /// One of the models.
    ///
    /// # Errors
    /// When there is no model of this number.
    pub fn model(&self, number: u32) -> Result<SavedModel, Invalid> {
        let found = self.models.iter().find(|(known, _)| *known == number);
        let (model, parameters) = found.ok_or_else(|| Invalid(format!("the grid holds no model {number}")))?;
        Ok(SavedModel { grid: self.description.clone(), model: *model, parameters: parameters.clone() })
    }

    /// The model with the lowest validation loss.
    ///
    /// # Errors
    /// When no model was trained.
    pub fn best(&self) -> Result<SavedModel, Invalid> {
        let best = self.description.models.iter().min_by(|a, b| a.2.total_cmp(&b.2));
        best.map_or_else(|| Err(Invalid("no model was trained".to_owned())), |best| self.model(best.0))
    }

    /// The table of shapes.
    fn rows(&self) -> Vec<Row<'_>> {
        let rows = self.models.iter().flat_map(|(model, parameters)| {
            parameters.iter().map(|parameter| Row {
                model: *model,
                name: &parameter.name,
                shape: parameter.shape.map(|size| size as u32).to_vec(),
            })
        });
        rows.collect()
    }

    /// The models of a file.
    ///
    /// # Errors
    /// When the bytes are no file of networks, or the file holds other parameters than it says.
    fn parse(bytes: &[u8]) -> Result<Self, Invalid> {
        let file = ModelFile::open(bytes)?;
        let (mut models, mut n_tensors) = (Vec::new(), 0);
        let mut listed = BTreeSet::new();
        for &(model, ..) in &file.grid.models {
            if !listed.insert(model) {
                return Err(wrong(format!("it lists model {model} twice")));
            }
            let parameters = file.parameters(model)?;
            let found = parameters.iter().map(|parameter| (&parameter.name, &parameter.shape));
            if !found.eq(file.expected(&parameters)?.iter().map(|(name, shape)| (name, shape))) {
                return Err(wrong(format!("the parameters of model {model} are not those of its network")));
            }
            n_tensors += parameters.len();
            models.push((model, parameters));
        }
        if n_tensors != file.n_tensors() {
            return Err(wrong(format!("it holds {} tensors, not the {n_tensors} that it lists", file.n_tensors())));
        }
        Ok(Self { description: file.grid, models })
    }
}

// They are functions of server artifacts alone.
impl Public for ModelWeights {}

impl Artifact for ModelWeights {
    const NAME: &'static str = "model";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("model", ColumnType::U32), ("name", ColumnType::Utf8), ("shape", ColumnType::ListU32)];
    const ATTACHMENT: Option<&'static str> = Some("model.safetensors");

    fn facts(&self) -> Facts {
        Facts::default().with("values", "model.safetensors")
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let rows = self.rows();
        Box::new(std::iter::once(vec![
            Column::U32(rows.iter().map(|row| row.model).collect()),
            Column::Utf8(rows.iter().map(|row| row.name.to_owned()).collect()),
            Column::ListU32(rows.into_iter().map(|row| row.shape).collect()),
        ]))
    }

    /// Counts the file beside the table twice, because it is held while its parameters are read.
    fn footprint(_: &Facts, stored: u64) -> Result<u64, Invalid> {
        Ok(stored.saturating_mul(2))
    }

    fn from_blocks(_: &Facts, _: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        Err(Invalid("the values are in model.safetensors; a table of shapes alone is no model".into()))
    }

    fn from_parts(
        _: &Facts,
        blocks: &mut dyn Iterator<Item = Vec<Column>>,
        attachment: Option<&[u8]>,
    ) -> Result<Self, Invalid> {
        let bytes = attachment.ok_or_else(|| Invalid("model.safetensors, which holds the values, is absent".into()))?;
        let weights = Self::parse(bytes)?;
        let mut next = weights.rows().into_iter();
        for block in blocks {
            let mut columns = block.into_iter();
            let (models, names) = (take::<u32>(&mut columns)?, take::<String>(&mut columns)?);
            let shapes = take::<Vec<u32>>(&mut columns)?;
            for ((model, name), shape) in models.into_iter().zip(&names).zip(shapes) {
                if next.next() != Some(Row { model, name, shape }) {
                    return Err(Invalid(format!("model.safetensors has no {name} of model {model} at its row")));
                }
            }
        }
        match next.next() {
            Some(Row { model, name, .. }) => Err(Invalid(format!("the table has no row for {name} of model {model}"))),
            None => Ok(weights),
        }
    }

    fn attachment(&self) -> Option<Vec<u8>> {
        let tensors = self.models.iter().flat_map(|(model, parameters)| {
            parameters.iter().map(move |parameter| (format!("model{model}.{}", parameter.name), Tensor(parameter)))
        });
        let text = serde_json::to_string(&self.description);
        let text = text.unwrap_or_else(|error| unreachable!("a description is plain data: {error}"));
        // One entry: safetensors keeps metadata in a hash map, and the order of several would change from run to run.
        let metadata = [(DESCRIPTION.to_owned(), text)].into_iter().collect();
        let file = safetensors::serialize(tensors, Some(metadata));
        Some(file.unwrap_or_else(|error| unreachable!("names are distinct: {error}")))
    }
}

#[cfg(test)]
mod tests;
