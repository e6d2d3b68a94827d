//! Features in whole steps, to which noise in whole numbers is added.

use super::view::FeatureView;

/// Sends each feature of `node`, rounded to one of `steps` parts of `range`, with its own `noise` in such parts.
pub(super) fn report_in_steps(
    node: FeatureView,
    [lower, upper]: [f64; 2],
    steps: f64,
    mut noise: impl FnMut() -> i64,
    mut send: impl FnMut(u32, f32),
) {
    for (feature, share) in (0..).zip(node.shares()) {
        let step = (share * steps).round() as i64 + noise();
        send(feature, (lower + (upper - lower) * (step as f64 / steps)) as f32);
    }
}
