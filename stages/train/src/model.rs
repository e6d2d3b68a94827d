//! Weights of the trained networks.

use std::collections::BTreeMap;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use veilgraph_contract::{Artifact, Attachment, Column, ColumnType, Facts, Invalid, Public, Zone};
use veilgraph_nn::Parameter;

/// Parameters of every model at its best epoch: a table of shapes, and the values as safetensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelWeights {
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
        let file =
            safetensors::serialize(views, None).unwrap_or_else(|error| unreachable!("names are distinct: {error}"));
        Some(Attachment { name: "model.safetensors", bytes: file })
    }
}
