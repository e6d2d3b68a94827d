//! How much of a GPU a grid takes.

use std::sync::Arc;

use crate::architecture::named;
use crate::dataset::Dataset;
use crate::device_map::most_entries;
use crate::map::LinearMap;
use crate::network::Aggregation;
use crate::ops::ENTRIES_PER_PART;

/// What a grid takes on a GPU while it trains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint {
    /// Bytes, about, of the features and the graph, which all models read.
    pub shared: u64,
    /// Bytes of one model of a batch, about: values and gradients of every layer, parameters with their gradients, moments and best values, and the
    /// largest sums over parts of a matrix.
    pub bytes: u64,
    /// How far a kernel counts for one model: the numbers of its largest tensor, or the units that work on its nodes.
    pub largest: u64,
}

impl Footprint {
    /// The footprint of a grid on these data, on a device with so much memory for batches.
    pub(crate) fn of(dataset: &Dataset, memory: u64) -> Self {
        let (shapes, options, input) = (dataset.layers(), dataset.options, &dataset.input);
        let n = input.features.n_rows();
        let hidden = if options.layers > 1 { options.hidden * dataset.architecture.heads(options) } else { 0 };
        let widest = hidden.max(dataset.n_classes);
        let layers = 8 * n * (hidden * (options.layers - 1) + dataset.n_classes);
        let (links, workers, bytes_of_links) = match &input.aggregation {
            // Nothing is kept for a link.
            Aggregation::Attend(graph) if graph.is_complete() => (0, 0, 8 * graph.links().n_entries()),
            // A plane of up to 64 units may work on a node.
            Aggregation::Attend(graph) => (graph.links().n_entries(), 64 * n, 20 * graph.links().n_entries()),
            _ => (0, 0, 0),
        };
        let sizes: Vec<usize> = named(shapes.clone()).iter().map(|(_, [rows, columns])| rows * columns).collect();
        let later_weights = shapes[1..].iter().map(|layer| layer.weight[0] * layer.weight[1]).max().unwrap_or(0);
        // The gradient of a later layer's weights is summed in about √n blocks of rows.
        let sums_of_blocks = n.isqrt() * later_weights;
        let maps = [Some(&input.features), input.gathered.as_ref(), propagated(&input.aggregation)];
        let maps: Vec<&LinearMap> = maps.into_iter().flatten().map(AsRef::as_ref).collect();
        let sums_of_parts = widest * maps.iter().map(|map| parts(map)).max().unwrap_or(0);
        let shared = bytes_of_links as u64 + maps.iter().map(|map| bytes_of_map(map, memory)).sum::<u64>();
        let kept = layers
            + 3 * options.layers * options.heads * links
            + 7 * sizes.iter().sum::<usize>()
            + sums_of_blocks
            + sums_of_parts;
        let tensors = [n * widest, links, sums_of_blocks, sums_of_parts, workers];
        let largest = tensors.into_iter().chain(sizes).max().unwrap_or(0);
        Self { shared, bytes: 4 * kept as u64, largest: largest as u64 }
    }

    /// How many such models can train at once in so many bytes, at least one. A kernel counts in 32 bits.
    pub(crate) fn models_at_once(self, memory: u64) -> usize {
        let counted = u64::from(u32::MAX) / self.largest.max(1);
        (memory / self.bytes.max(1)).min(counted).max(1) as usize
    }
}

/// Bytes of a map on a device with so much memory for batches.
fn bytes_of_map(map: &LinearMap, memory: u64) -> u64 {
    let entries = (map.n_rows() * map.n_columns()) as u64;
    match map {
        // Column and value of every entry, in both orders.
        LinearMap::Sparse(sparse) => 16 * sparse.matrix.n_entries() as u64,
        _ if entries <= most_entries(memory) => 4 * entries,
        _ => 0,
    }
}

fn propagated(aggregation: &Aggregation) -> Option<&Arc<LinearMap>> {
    match aggregation {
        Aggregation::Propagate(map) => Some(map),
        _ => None,
    }
}

/// The largest number of parts into which a GPU may cut the rows of a matrix, or of its transposed one.
fn parts(map: &LinearMap) -> usize {
    match map {
        LinearMap::Sparse(sparse) => {
            let rows = sparse.matrix.n_rows().max(sparse.matrix.n_columns());
            rows + sparse.matrix.n_entries() / ENTRIES_PER_PART
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_32_bits_both_limit_a_batch() {
        let small = Footprint { shared: 0, bytes: 1 << 20, largest: 1 << 16 };
        assert_eq!(small.models_at_once(10 << 20), 10);
        let large = Footprint { shared: 0, bytes: 1 << 30, largest: 1 << 30 };
        assert_eq!(large.models_at_once(100 << 30), 3);
        assert_eq!(large.models_at_once(1), 1, "a single model is tried in any case");
    }
}
