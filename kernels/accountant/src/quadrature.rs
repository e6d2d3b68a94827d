//! Integrals of positive functions over the line, in logarithms.

/// How far below its largest value, in nats, an integrand is left out.
const DEPTH: f64 = 45.0;

/// `ln ∫ exp(f(z)) dz` for an `f` that is analytic, falls on both sides and rises nowhere beyond `modes`, by the
/// trapezoid rule with the given step, which converges exponentially for such functions.
///
/// Every mode is followed to both sides until the integrand is negligible; parts that were reached from another mode are
/// not counted again.
pub(crate) fn log_integral(f: impl Fn(f64) -> f64, modes: &[f64], step: f64) -> f64 {
    let top = modes.iter().map(|&mode| f(mode)).fold(f64::NEG_INFINITY, f64::max);
    // Points are multiples of the step, so that those of all modes lie on one grid.
    let mut reached: Vec<(i64, i64)> = Vec::new();
    let mut starts: Vec<i64> = modes.iter().map(|mode| (mode / step).round() as i64).collect();
    starts.sort_unstable();
    let mut sum = 0.0;
    for start in starts {
        if reached.iter().any(|&(low, high)| low <= start && start <= high) {
            continue;
        }
        let mut ends = [start, start];
        for (end, direction) in ends.iter_mut().zip([-1, 1]) {
            let mut point = if direction < 0 { start } else { start + 1 };
            loop {
                let is_counted = reached.iter().any(|&(low, high)| low <= point && point <= high);
                let value = f(point as f64 * step) - top;
                if is_counted || value < -DEPTH {
                    break;
                }
                sum += libm::exp(value);
                *end = point;
                point += direction;
            }
        }
        reached.push((ends[0], ends[1]));
    }
    top + libm::log(sum * step)
}

/// `ln(e^a + e^b)`.
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
}

/// Logarithm of the number of ways to choose `k` of `n`.
pub(crate) fn log_choose(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}
