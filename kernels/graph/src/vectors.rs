//! This module says with which vectors of the processor a loop runs.

use pulp::WithSimd;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use pulp::{Scalar, Simd, x86::V3};

/// Runs a loop with vectors of at most eight numbers in single precision.
///
/// Loops over rows of a layer's output take eight columns at a time, because classes are often seven or eight; in sixteen they
/// would compute zeros. In other loops no gain by longer vectors was measured, and they are compiled once less.
#[inline]
pub fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return match V3::try_new() {
        Some(simd) => Simd::vectorize(simd, op),
        None => Scalar::new().vectorize(op),
    };
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    pulp::Arch::new().dispatch(op)
}

/// Runs a loop with the longest vectors that the processor has: sixteen numbers in single precision with AVX-512.
///
/// This is for loops that compute more than they read from memory.
#[inline]
pub fn dispatch_long<Op: WithSimd>(op: Op) -> Op::Output {
    pulp::Arch::new().dispatch(op)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lanes;

    impl WithSimd for Lanes {
        type Output = usize;

        fn with_simd<S: pulp::Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }

    #[test]
    fn long_vectors_are_taken_where_they_are_asked_for() {
        assert!(dispatch(Lanes) <= 8);
        assert!(dispatch_long(Lanes) >= dispatch(Lanes));
    }
}
