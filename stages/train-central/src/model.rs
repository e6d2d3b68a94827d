//! The artifact of a released model.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};
use veilgraph_dp_sgd::Network;

/// The parameters that a curator releases, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReleasedModel {
    /// Name, shape and values of every parameter.
    pub parameters: Vec<Parameter>,
}

/// One parameter of a released model.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Network and parameter, such as `encoder.first.weight`.
    pub name: String,
    /// Sizes.
    pub shape: Vec<u32>,
    /// Values, row-major.
    pub values: Vec<f32>,
}

impl ReleasedModel {
    /// Adds the parameters of a network.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, network: &Network) -> Self {
        let shape = network.shape;
        let [inputs, hidden, classes] = [shape.inputs, shape.hidden, shape.classes].map(|size| size as u32);
        let mut rest = network.parameters.as_slice();
        for (part, shape) in [
            ("first.weight", vec![inputs, hidden]),
            ("first.bias", vec![hidden]),
            ("second.weight", vec![hidden, classes]),
            ("second.bias", vec![classes]),
        ] {
            let (values, others) = rest.split_at(shape.iter().product::<u32>() as usize);
            self.parameters.push(Parameter { name: format!("{name}.{part}"), shape, values: values.to_vec() });
            rest = others;
        }
        self
    }
}

// It is the output of a mechanism whose cost is charged before its first noisy step.
impl Public for ReleasedModel {}

impl Artifact for ReleasedModel {
    const NAME: &'static str = "released_model";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("name", ColumnType::Utf8), ("shape", ColumnType::ListU32), ("values", ColumnType::ListF32)];
    const IS_REPORT: bool = true;

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let all = &self.parameters;
        Box::new(std::iter::once(vec![
            Column::Utf8(all.iter().map(|parameter| parameter.name.clone()).collect()),
            Column::ListU32(all.iter().map(|parameter| parameter.shape.clone()).collect()),
            Column::ListF32(all.iter().map(|parameter| parameter.values.clone()).collect()),
        ]))
    }

    fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut parameters = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let names: Vec<String> = take(&mut columns)?;
            let shapes: Vec<Vec<u32>> = take(&mut columns)?;
            let all_values: Vec<Vec<f32>> = take(&mut columns)?;
            for ((name, shape), values) in names.into_iter().zip(shapes).zip(all_values) {
                if shape.iter().map(|&size| size as usize).product::<usize>() != values.len() {
                    return Err(Invalid(format!(
                        "parameter `{name}` has {} values for the shape {shape:?}",
                        values.len()
                    )));
                }
                parameters.push(Parameter { name, shape, values });
            }
        }
        Ok(Self { parameters })
    }
}
