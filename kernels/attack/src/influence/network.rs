//! A trained network in double precision.

use veilgraph_nn::{Architecture, Parameter, SavedModel, Unit};

use super::{Changed, InfluenceError};

/// Layers and the function of the hidden units.
pub(super) struct Network {
    pub layers: Vec<Layer>,
    unit: Unit,
}

/// One layer.
pub(super) struct Layer {
    /// What is sent over links, `[inputs, outputs]`.
    pub weight: Matrix,
    /// `[outputs]`.
    pub bias: Vec<f64>,
    /// GraphSAGE: what a node keeps of itself, `[inputs, outputs]`.
    pub own: Option<Matrix>,
    /// GAT: the halves of the attention vectors, of who sends and of who receives, `[outputs of a head, heads]`.
    pub attention: Option<[Matrix; 2]>,
}

/// A row-major matrix.
pub(super) struct Matrix {
    pub rows: usize,
    pub columns: usize,
    values: Vec<f64>,
}

impl Network {
    /// # Errors
    /// When a parameter is missing or has the wrong shape.
    pub(super) fn of(saved: &SavedModel) -> Result<Self, InfluenceError> {
        let options = saved.grid.options;
        let layers: Result<Vec<Layer>, InfluenceError> =
            (1..=options.layers).map(|number| layer(saved, number)).collect();
        let layers = layers?;
        let fits = layers.windows(2).all(|pair| pair[0].outputs() == pair[1].weight.rows);
        let has_classes = layers.last().is_some_and(|last| last.outputs() == saved.grid.n_classes);
        if fits && has_classes {
            Ok(Self { layers, unit: options.activation })
        } else {
            Err(InfluenceError::Model("the sizes of its layers do not follow each other".into()))
        }
    }

    /// What the units make of a layer's output.
    pub(super) fn activated(&self, output: &[f64]) -> Vec<f64> {
        output.iter().map(|&value| activate(self.unit, value)).collect()
    }

    /// How the units' values change, when their inputs change from `at_rest`; rows that do not change are left out.
    pub(super) fn moved(&self, at_rest: &[f64], changed: &Changed) -> Changed {
        let width = if changed.nodes.is_empty() { 1 } else { changed.by.len() / changed.nodes.len() };
        let mut moved = Changed { nodes: Vec::new(), by: Vec::new() };
        for (&node, by) in changed.nodes.iter().zip(changed.by.chunks_exact(width)) {
            let before = &at_rest[node as usize * width..(node as usize + 1) * width];
            let row: Vec<f64> = before
                .iter()
                .zip(by)
                .map(|(before, by)| activate(self.unit, before + by) - activate(self.unit, *before))
                .collect();
            if row.iter().any(|&by| by != 0.0) {
                moved.nodes.push(node);
                moved.by.extend(row);
            }
        }
        moved
    }
}

impl Layer {
    /// Numbers that a node has after the layer.
    pub(super) fn outputs(&self) -> usize {
        self.weight.columns
    }
}

impl Matrix {
    /// One row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// Entry of a row and a column.
    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// `left · self`, both row-major; `left` has as many columns as this has rows.
    pub(super) fn times(&self, left: &[f64]) -> Vec<f64> {
        let mut product = Vec::with_capacity(left.len() / self.rows.max(1) * self.columns);
        for row in left.chunks_exact(self.rows.max(1)) {
            let start = product.len();
            product.resize(start + self.columns, 0.0);
            for (&value, weights) in row.iter().zip(self.values.chunks_exact(self.columns)) {
                product[start..].iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * weight);
            }
        }
        product
    }
}

fn layer(saved: &SavedModel, number: usize) -> Result<Layer, InfluenceError> {
    let named = |role: &str| {
        let name = format!("layer{number}.{role}");
        let found = saved.parameters.iter().find(|parameter| parameter.name == name);
        found.map(matrix).ok_or_else(|| InfluenceError::Model(format!("it has no {name}")))
    };
    let architecture = saved.grid.architecture;
    let weight = named(if architecture == Architecture::GraphSage { "weight_neighbours" } else { "weight" })?;
    let own = (architecture == Architecture::GraphSage).then(|| named("weight_self")).transpose()?;
    let attention = (architecture == Architecture::Gat)
        .then(|| Ok([named("attention_source")?, named("attention_target")?]))
        .transpose()?;
    let bias = named("bias")?.values;
    let heads_fit = |[source, target]: &[Matrix; 2]| {
        source.rows * source.columns == weight.columns && (source.rows, source.columns) == (target.rows, target.columns)
    };
    let own_fits = |own: &Matrix| (own.rows, own.columns) == (weight.rows, weight.columns);
    let fits = weight.columns > 0
        && bias.len() == weight.columns
        && own.as_ref().is_none_or(own_fits)
        && attention.as_ref().is_none_or(heads_fit);
    if fits {
        Ok(Layer { weight, bias, own, attention })
    } else {
        Err(InfluenceError::Model(format!("the parameters of layer {number} do not fit each other")))
    }
}

fn matrix(parameter: &Parameter) -> Matrix {
    let [rows, columns] = parameter.shape;
    Matrix { rows, columns, values: parameter.values.iter().map(|&value| f64::from(value)).collect() }
}

/// Function of a hidden unit; see [`Unit`].
fn activate(unit: Unit, x: f64) -> f64 {
    /// `λ` and `α` of SELU (Klambauer et al. 2017, equation 14). The network has them in single precision, so that hidden units
    /// differ from its own in the last digits.
    const SCALE: f64 = 1.050_700_987_355_480_5;
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    match unit {
        Unit::Relu => x.max(0.0),
        Unit::Selu if x > 0.0 => SCALE * x,
        Unit::Selu => SCALE * ALPHA * libm::expm1(x),
    }
}
