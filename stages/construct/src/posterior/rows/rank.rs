//! The probability of a given rank among more probabilities than fit into memory.

use veilgraph_contract::Invalid;

/// The `rank`-th largest of these probabilities, or the smallest where there are fewer; none where `rank` is 0 or there
/// are no probabilities.
///
/// The bits of numbers of at least 0 are ordered as the numbers are, so the wanted one is found 16 bits at a time.
///
/// # Complexity
/// Four passes over the probabilities, and 65,536 counters.
///
/// # Errors
/// Those of the probabilities.
pub(super) fn largest<I>(probabilities: impl Fn() -> I, rank: u64) -> Result<Option<f64>, Invalid>
where
    I: Iterator<Item = Result<Vec<f64>, Invalid>>,
{
    const DIGIT_BITS: u32 = 16;
    const DIGITS: usize = 1 << DIGIT_BITS;
    // All larger digits of the wanted number, and how many numbers with these digits are at least as large.
    let (mut known, mut remaining) = (0_u64, rank);
    for shift in (0..u64::BITS).step_by(DIGIT_BITS as usize).rev() {
        let mut counts = vec![0_u64; DIGITS];
        let mut total = 0;
        for block in probabilities() {
            for bits in block?.into_iter().map(f64::to_bits) {
                if bits.checked_shr(shift + DIGIT_BITS).unwrap_or(0) == known {
                    counts[(bits >> shift) as usize % DIGITS] += 1;
                    total += 1;
                }
            }
        }
        remaining = remaining.min(total);
        if remaining == 0 {
            return Ok(None);
        }
        let mut digit = DIGITS - 1;
        while counts[digit] < remaining {
            remaining -= counts[digit];
            digit -= 1;
        }
        known = known << DIGIT_BITS | digit as u64;
    }
    Ok(Some(f64::from_bits(known)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_that_of_the_sorted_list(
            levels in prop::collection::vec(0_u32..12, 0..60),
            exponent in prop::sample::select(vec![1, 20, 1000]),
            rank in 0_u64..70,
        ) {
            // Few distinct values, near 0, near 1 and between.
            let value = |level: &u32| match level {
                0 => 0.0,
                11 => 1.0,
                level => 1.0 - f64::from(*level) * 0.5_f64.powi(exponent.min(52)) / 16.0,
            };
            let mut values: Vec<f64> = levels.iter().map(value).collect();
            let blocks = || values.chunks(7).map(|chunk| Ok(chunk.to_vec())).collect::<Vec<_>>().into_iter();
            let found = largest(blocks, rank).expect("readable");
            values.sort_by(|a, b| b.total_cmp(a));
            let expected = if rank == 0 { None } else { values.get(rank as usize - 1).or(values.last()).copied() };
            prop_assert_eq!(found, expected);
        }
    }
}
