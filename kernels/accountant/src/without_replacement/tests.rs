use super::*;

/// Figures of dp-accounting 0.6.0 (`_compute_rdp_sample_wor_gaussian`).
#[test]
fn the_curve_is_that_of_a_published_accountant() {
    let known = [
        (0.01, 1.0, 2.0, 0.000_543_508_638_109_433_1),
        (0.03, 2.0, 5.0, 0.002_666_836_401_988_756_6),
        (0.1, 4.0, 17.0, 0.023_714_353_279_914_852),
        (0.03, 5.0, 65.0, 0.005_225_707_622_168_311),
        (0.2, 8.0, 33.0, 0.037_066_280_206_844_55),
        (0.03, 5.0, 1.5, 0.000_146_907_995_584_567_85),
    ];
    for (rate, noise, order, nats) in known {
        let found = without_replacement(rate, noise).near(order).1;
        assert!((found / nats - 1.0).abs() < 1e-4, "{rate} {noise} {order}: {found} {nats}");
    }
}

#[test]
fn a_sample_of_all_is_no_sample() {
    assert_eq!(without_replacement(1.0, 2.0), Curve::gaussian(2.0));
    assert_eq!(without_replacement(0.0, 2.0), Curve::nothing());
}
