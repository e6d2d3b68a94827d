use proptest::prelude::*;

use super::*;

fn written(code: Golomb, gaps: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut bits = BitWriter::new(&mut bytes);
    gaps.iter().for_each(|&gap| code.write(gap, &mut bits));
    bits.finish();
    bytes
}

proptest! {
    #[test]
    fn gaps_are_read_back(group in 1_u32..5000, gaps in prop::collection::vec(0_u32..100_000, 0..50)) {
        let code = Golomb { group };
        let bytes = written(code, &gaps);
        let mut bits = BitReader::new(&bytes);
        for &gap in &gaps {
            prop_assert_eq!(code.read(&mut bits), Some(u64::from(gap)));
        }
        prop_assert_eq!(bits.finish(), Some(bytes.len()));
    }

    /// The group by its definition: `q^m + q^(m + 1) <= 1 < q^(m - 1) + q^m`.
    #[test]
    fn the_group_is_the_optimal_one(epsilon in 0.0_f64..12.0) {
        let p = 1.0 / (1.0 + epsilon.exp());
        let m = f64::from(Golomb::of(p).group);
        let power = |exponent: f64| (exponent * (-p).ln_1p()).exp();
        prop_assert!(power(m) + power(m + 1.0) <= 1.0 + 1e-9, "{}", m);
        prop_assert!(m == 1.0 || power(m) + power(m - 1.0) > 1.0 - 1e-9, "{}", m);
    }
}

/// Where half of the bits are set, the code is the row of bits itself.
#[test]
fn at_one_half_the_code_is_the_bits() {
    let code = Golomb::of(0.5);
    assert_eq!(code.group, 1);
    assert_eq!(written(code, &[0, 1, 0, 3]), [0b1011_0001]);
}

/// A group of three: rests 0, 1, 2 are written 0, 10, 11.
#[test]
fn rests_are_truncated_binary() {
    let code = Golomb { group: 3 };
    assert_eq!(written(code, &[0, 1, 2, 3]), [0b1011_0111, 0b0100_0000]);
}

#[test]
fn the_largest_budget_has_a_code() {
    let code = Golomb::of(1.0 / (1.0 + 20.0_f64.exp()));
    assert_eq!(code.group, 336_290_888);
    let mut bits = BitReader::new(&[0; 100]);
    assert_eq!(code.read(&mut bits), None);
}
