//! How many models may train at a time in the memory that a run may use on the host.

use crate::architecture::{Architecture, named};
use crate::dataset::Dataset;
use crate::failure::Failure;

/// Bytes of a number.
const NUMBER: u64 = 4;

/// What a model takes on the host, at least, in numbers of 4 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostFootprint {
    pub parameters: usize,
    /// What is kept beside parameters, their gradients and moments while the model trains: what layers give for nodes, and
    /// weights of links that are learned.
    pub values: usize,
    /// Class probabilities of the trained model.
    pub probabilities: usize,
}

impl HostFootprint {
    /// The footprint of a model on these data.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        let sizes = named(dataset.layers()).into_iter().map(|(_, [rows, columns])| rows.saturating_mul(columns));
        let n_nodes = dataset.input.features.n_rows();
        // A square matrix of weights, and two moments of each.
        let n_learned = if dataset.learns_links() { 3 * n_nodes * n_nodes } else { 0 };
        Self {
            parameters: sizes.fold(0, usize::saturating_add),
            values: values_of_layers(dataset, n_nodes).saturating_add(n_learned),
            probabilities: if dataset.keeps_probabilities { n_nodes.saturating_mul(dataset.n_classes) } else { 0 },
        }
    }

    /// Returns how many of `n_models` models may train at a time on the host in `limit` bytes: at least one and at most `wanted`; 0
    /// where none is wanted, because they train on a device.
    ///
    /// Parameters and probabilities of all models are counted. While models train, a gradient, two moments and the best value of
    /// each of their parameters and the values of layers come on top; when all are trained, the parameters once more, as they are
    /// written.
    ///
    /// # Errors
    /// Where the models do not fit although they train one after the other.
    pub(crate) fn at_a_time(self, n_models: usize, wanted: usize, limit: u64) -> Result<usize, Failure> {
        let Self { parameters, values, probabilities } = self;
        let of_all = |numbers: usize| (n_models as u64).saturating_mul(numbers as u64);
        let kept = of_all(parameters.saturating_add(probabilities));
        let of_one = (parameters as u64).saturating_mul(4).saturating_add(values as u64);
        let while_training = if wanted == 0 { 0 } else { of_one };
        let needed = kept.saturating_add(while_training.max(of_all(parameters))).saturating_mul(NUMBER);
        if needed > limit {
            return Err(Failure::TooLarge { n_models, n_parameters: parameters, n_values: values, needed, limit });
        }
        let most = (limit / NUMBER).saturating_sub(kept) / of_one.max(1);
        Ok(wanted.min(n_models).min(usize::try_from(most).unwrap_or(usize::MAX).max(1)))
    }
}

/// Numbers that the layers of a model keep at a time for all nodes, at least.
///
/// A backward pass holds the output of every hidden layer and, at its end, two more copies of one of them: activated, and as a
/// gradient. Attention holds each output before and after it. So it was measured with 2 to 5 layers for GCN and GAT, and with 2 layers
/// for the other networks (docs/benchmarks/training.md).
fn values_of_layers(dataset: &Dataset, n_nodes: usize) -> usize {
    let options = dataset.options;
    let hidden = options.hidden.saturating_mul(dataset.architecture.heads(options));
    let copies = match (options.layers, dataset.architecture) {
        (..=1, _) => 0,
        (layers, Architecture::Gat) => 2 * layers,
        (layers, _) => layers + 1,
    };
    n_nodes.saturating_mul(hidden.saturating_mul(copies).saturating_add(dataset.n_classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten models keep 10 · (5 + 2) numbers; each that trains takes 4 · 5 + 30 more.
    #[test]
    fn as_many_models_train_at_a_time_as_fit() {
        let footprint = HostFootprint { parameters: 5, values: 30, probabilities: 2 };
        let of = |wanted, numbers: u64| footprint.at_a_time(10, wanted, numbers * NUMBER);
        assert_eq!(of(8, 70 + 3 * 50), Ok(3));
        assert_eq!(of(8, 70 + 3 * 50 - 1), Ok(2));
        assert_eq!(of(2, 70 + 3 * 50), Ok(2), "no more than are wanted");
        assert_eq!(of(16, u64::MAX / NUMBER), Ok(10), "no more than there are");
        assert_eq!(of(8, 70 + 50), Ok(1));
        let failure = |numbers: u64| {
            let (needed, limit) = (numbers * NUMBER, (numbers - 1) * NUMBER);
            Err(Failure::TooLarge { n_models: 10, n_parameters: 5, n_values: 30, needed, limit })
        };
        assert_eq!(of(8, 70 + 50 - 1), failure(70 + 50));
        // None trains here; all are written.
        assert_eq!(of(0, 70 + 50), Ok(0));
        assert_eq!(of(0, 70 + 50 - 1), failure(70 + 50));
    }

    #[test]
    fn sizes_beyond_all_memory_are_refused() {
        let footprint = HostFootprint { parameters: usize::MAX, values: usize::MAX, probabilities: usize::MAX };
        assert!(footprint.at_a_time(usize::MAX, 4, u64::MAX - 1).is_err());
        assert_eq!(footprint.at_a_time(usize::MAX, 4, u64::MAX), Ok(1), "no limit");
    }
}
