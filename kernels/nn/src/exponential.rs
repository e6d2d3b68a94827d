//! An exponential that compilers turn into vector instructions.

/// `e^x` within 2 units in the last place; 0 below −87.3 and infinite above 88.7.
///
/// `e^x = 2^n e^r` with `|r| ≤ ln 2 / 2`, and the Taylor polynomial of degree 7 for `e^r`, whose remainder
/// is below 2⁻²⁷. It uses plain arithmetic alone, so that vectors of every width give the same bits.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// Adding this number leaves no bits for a fraction: the sum's low bits hold the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts. The first has so few bits that its products with small integers are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const BIAS: i32 = 127;
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    let mut sum = 1.0 / 5040.0;
    for term in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * r + term;
    }
    // 2^n is multiplied in two factors, because 2^128 overflows although the largest results lie below it.
    let whole = shifted.to_bits().cast_signed().wrapping_sub(ROUND.to_bits().cast_signed());
    let half = whole >> 1;
    let power = |n: i32| f32::from_bits((n.wrapping_add(BIAS) << 23).cast_unsigned());
    let result = sum * power(half) * power(whole - half);
    // Comparisons with NaN are false, so that the exponential of NaN is NaN.
    if x < -87.3 {
        0.0
    } else if x > 88.72 {
        f32::INFINITY
    } else {
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential() {
        for step in -87_000..=88_700 {
            let x = step as f32 * 1e-3;
            let expected = libm::exp(f64::from(x));
            let error = (f64::from(exp(x)) - expected).abs() / expected;
            assert!(error < 2.4e-7, "{x}: {} {expected}", exp(x));
        }
        assert_eq!([exp(0.0), exp(-1e4), exp(f32::NEG_INFINITY)], [1.0, 0.0, 0.0]);
        assert_eq!([exp(89.0), exp(f32::INFINITY)], [f32::INFINITY; 2]);
        assert!(exp(f32::NAN).is_nan());
    }
}
