//! This module decides how far the reports are trusted about classes.

use veilgraph_graph::ClassBeliefs;

use super::{KnownClasses, normalize, prior_log};

/// Returns the classes of all nodes, those of training nodes as if their labels were not known, and the share of what
/// the reports say that makes the labels of validation nodes likeliest.
///
/// # Shapes
/// `field`: `[n, n_classes]`, row-major, in nats.
pub(crate) fn weighed(field: &[f32], classes: &KnownClasses) -> (ClassBeliefs, f64) {
    const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
    /// The share where no label of a validation node is known.
    const USUAL: f64 = 0.75;
    let n_classes = classes.prior.n_classes();
    let row = |node: usize, share: f64| -> Vec<f32> {
        let field = &field[node * n_classes..][..n_classes];
        let logs = classes.prior.row(node).iter().zip(field).map(|(&p, &f)| prior_log(p) + share * f64::from(f));
        let logs: Vec<f64> = logs.collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut row = vec![0.0; n_classes];
        normalize(logs.iter().map(|log| libm::exp(log - most)), &mut row);
        row
    };
    let loss = |share: f64| -> f64 {
        let of = |&(node, class): &(u32, u16)| {
            -libm::log(f64::from(row(node as usize, share)[usize::from(class)]).max(1e-30))
        };
        classes.validation.iter().map(of).sum()
    };
    let mut best = (f64::INFINITY, USUAL);
    for share in SHARES.into_iter().filter(|_| !classes.validation.is_empty()) {
        let loss = loss(share);
        if loss < best.0 {
            best = (loss, share);
        }
    }
    let rows = (0..classes.prior.n_nodes()).flat_map(|node| row(node, best.1)).collect();
    let beliefs =
        ClassBeliefs::new(n_classes, rows).unwrap_or_else(|invalid| unreachable!("rows are normalized: {invalid}"));
    (beliefs, best.1)
}
