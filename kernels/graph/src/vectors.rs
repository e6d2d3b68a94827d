//! This module says with which vectors of the processor a loop runs.

use pulp::{Arch, WithSimd};
#[cfg(target_arch = "x86_64")]
use pulp::{Scalar, Simd, x86::V3};

/// Runs a loop with vectors of at most eight numbers in single precision.
///
/// Most loops take rows of eight columns at a time. Longer vectors would be filled up with zeros, and would not be faster.
#[inline]
pub fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    #[cfg(target_arch = "x86_64")]
    return match V3::try_new() {
        Some(simd) => Simd::vectorize(simd, op),
        None => Scalar::new().vectorize(op),
    };
    #[cfg(not(target_arch = "x86_64"))]
    Arch::new().dispatch(op)
}

/// Runs a loop with the longest vectors that the processor has: sixteen numbers in single precision with AVX-512.
///
/// This is for loops that compute more than they read from memory.
#[inline]
pub fn dispatch_long<Op: WithSimd>(op: Op) -> Op::Output {
    Arch::new().dispatch(op)
}
