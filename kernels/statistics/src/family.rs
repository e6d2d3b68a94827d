//! Many comparisons in one table.

/// p-values that hold together: where the ones below a level count as found, the chance of one false finding among all is at
/// most that level, whatever the comparisons have in common. In the order of `p_values`.
///
/// # Source
/// Holm (1979), A simple sequentially rejective multiple test procedure (Scandinavian Journal of Statistics 6).
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &place) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        largest = largest.max((left * p_values[place]).min(1.0));
        adjusted[place] = largest;
    }
    adjusted
}
