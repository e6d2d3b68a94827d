use super::*;

/// Sends given words, then zeros.
struct Script(Vec<u64>);

impl rand::TryRng for Script {
    type Error = std::convert::Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.try_next_u64().map(|word| word as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(if self.0.is_empty() { 0 } else { self.0.remove(0) })
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
        unreachable!("words are drawn")
    }
}

/// The counts of a block of four bits are exactly binomial: each first word stands for 2^-64.
#[test]
fn block_counts_are_binomial_exactly() {
    for byte in 1..=128_u64 {
        let blocks = Blocks::new(byte << 56, 2);
        let mut below = 0_u128;
        for (count, ways) in [1_u128, 4, 6, 4, 1].into_iter().enumerate() {
            below += (ways * u128::from(byte).pow(count as u32) * u128::from(256 - byte).pow(4 - count as u32)) << 32;
            if count < 4 {
                assert_eq!(u128::from(blocks.tops[count]), below, "threshold byte {byte}, count {count}");
            }
        }
        assert_eq!(below, 1 << 64);
    }
}

/// Where the first word of the uniform number equals that of the distribution function, later words decide.
#[test]
fn undecided_counts_are_decided_by_later_bits() {
    // All later words of the distribution function are zero: the uniform number is not below it.
    let coarse = Blocks::new(3 << 56, 2);
    let count = |blocks: &Blocks, words: &[u64]| blocks.count(&mut Script(words.to_vec()));
    assert_eq!(count(&coarse, &[coarse.tops[1] - 1]), 1);
    assert_eq!(count(&coarse, &[coarse.tops[1]]), 2);
    // With a threshold of 64 bits they are not: zeros stay below them, ones do not.
    let fine = Blocks::new((3 << 56) + 1, 2);
    assert_eq!(count(&fine, &[fine.tops[1], 0, 0, 0]), 1);
    assert_eq!(count(&fine, &[fine.tops[1], u64::MAX, u64::MAX, u64::MAX]), 2);
    let rare = Blocks::of(1 << 40, 1 << 20);
    assert_eq!(count(&rare, &[0]), 0);
    let all = rare.tops.len();
    assert!(count(&rare, &vec![u64::MAX; 1 << 15]) > all, "beyond the table");
}

/// The table is the same whether it is made from bounds or from the whole numbers.
#[test]
fn bounds_give_the_exact_table() {
    for epsilon in [3.5, 4.0, 5.5, 7.0, 8.0, 10.0, 12.5, 16.0, 20.0, 40.0] {
        let threshold = crate::randomized_response::threshold(epsilon);
        for block_bits in [6, 8, 10, 12] {
            let bounded = tops_from_bounds(threshold, block_bits);
            assert_eq!(bounded, Some(exact_tops(threshold, block_bits)), "{epsilon} nats, 2^{block_bits} bits");
        }
    }
    assert_eq!(tops_from_bounds(1, 15), Some(exact_tops(1, 15)));
}
