//! What a release costs whose data were sampled first.

/// Cost of a release of `(epsilon, dp_delta)` on a sample that each node enters with probability `rate`, once for the
/// whole release: `(ln(1 + rate (e^epsilon - 1)), rate · dp_delta)`.
///
/// # Source
/// Balle, Barthe, Gaboardi (2018), Privacy amplification by subsampling, theorem 8. The product `rate · epsilon` that
/// DPAR states is the limit of this for an epsilon near 0, and far below it for others.
#[must_use]
pub fn amplified(epsilon: f64, dp_delta: f64, rate: f64) -> (f64, f64) {
    // ln(1 - rate + rate e^epsilon), without the overflow of e^epsilon.
    let cost = if epsilon > 30.0 {
        epsilon + libm::log(rate + (1.0 - rate) * libm::exp(-epsilon))
    } else {
        libm::log1p(rate * libm::expm1(epsilon))
    };
    (if rate == 0.0 { 0.0 } else { cost }, rate * dp_delta)
}

/// The cost that a release may have on a sample, so that it costs `epsilon` once the sampling is counted: the inverse of
/// [`amplified`].
#[must_use]
pub fn before_sampling(epsilon: f64, rate: f64) -> f64 {
    if epsilon > 30.0 { epsilon - libm::log(rate) } else { libm::log1p(libm::expm1(epsilon) / rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_spent_on_a_sample_is_the_inverse() {
        for epsilon in [1e-3, 1.0, 29.9, 30.1, 700.0, 5000.0] {
            let found = amplified(before_sampling(epsilon, 0.09), 0.0, 0.09).0;
            assert!((found / epsilon - 1.0).abs() < 1e-9, "{epsilon}: {found}");
        }
    }

    #[test]
    fn sampling_takes_a_constant_off_a_large_epsilon() {
        // A sample of 9 % turns 44.4 nats into 44.4 + ln(.09), and not into 4 nats.
        let (epsilon, dp_delta) = amplified(44.4, 2e-3, 0.09);
        assert!((epsilon - 41.992).abs() < 1e-3, "{epsilon}");
        assert!((dp_delta - 1.8e-4).abs() < 1e-15);
        assert!((amplified(1e-6, 0.0, 0.09).0 - 9e-8).abs() < 1e-12);
        assert!((amplified(29.999, 0.0, 0.5).0 - amplified(30.001, 0.0, 0.5).0).abs() < 3e-3);
        assert_eq!(amplified(5.0, 1e-5, 1.0), (5.0, 1e-5));
    }
}
