use super::*;
use crate::uniform::probability;

/// No number sets or clears the bit more often than an end of the range does, which costs at most the budget.
#[test]
fn no_number_costs_more_than_an_end_of_the_range() {
    for epsilon in [1e-6, 0.01, 0.5, 1.0, 5.0, 20.0] {
        let (bit, least) = (OneBit::new(epsilon).expect("representable"), threshold(epsilon));
        let near_the_end = [1.0_f64.next_down(), 1.0, 1.5, f64::INFINITY];
        for share in (0..=1000).map(|k| f64::from(k) / 1000.0).chain(near_the_end) {
            let set = bit.threshold_at(share);
            assert!((least..=least.wrapping_neg()).contains(&set), "ε {epsilon}, {share}: {set}");
        }
    }
}

/// Both bits, eleven numbers: the largest ratio is the budget, to within its rounding.
#[test]
fn a_bit_costs_its_budget_and_no_more() {
    for epsilon in [1e-6, 0.01, 0.5, 1.0, 5.0, 20.0] {
        let bit = OneBit::new(epsilon).expect("representable");
        let mut worst = 0.0_f64;
        for (a, b) in (0..=10).flat_map(|a| (0..=10).map(move |b| (f64::from(a) / 10.0, f64::from(b) / 10.0))) {
            let (a, b) = (bit.threshold_at(a), bit.threshold_at(b));
            let set = (probability(a) / probability(b)).ln();
            let clear = (probability(a.wrapping_neg()) / probability(b.wrapping_neg())).ln();
            worst = worst.max(set).max(clear);
        }
        assert!(worst <= epsilon + 1e-9 && worst > epsilon - 1e-6, "ε {epsilon}: {worst}");
    }
}

#[test]
fn the_contrast_is_that_of_the_formula() {
    for epsilon in [1e-9, 1e-3, 0.5, 1.0, 5.0, 30.0_f64] {
        let bit = OneBit::new(epsilon).expect("representable");
        let expected = (epsilon / 2.0).tanh();
        // The margin of a threshold is an absolute error of 2^-48 here.
        assert!((bit.contrast() - expected).abs() < 1e-14, "ε {epsilon}: {}", bit.contrast());
        assert!((probability(bit.threshold_at(0.5)) - 0.5).abs() < 1e-15);
    }
}

#[test]
fn budgets_that_say_nothing_or_everything_are_refused() {
    assert_eq!(OneBit::new(0.0), None);
    assert_eq!(OneBit::new(1e-17), None);
    assert_eq!(OneBit::new(f64::INFINITY), None);
}

#[test]
fn numbers_outside_the_range_count_as_its_ends() {
    let bit = OneBit::new(2.0).expect("representable");
    assert_eq!(bit.threshold_at(-3.0), bit.threshold_at(0.0));
    assert_eq!(bit.threshold_at(7.0), bit.threshold_at(1.0));
}
