use super::*;

/// What is found of every logit near a threshold, and of the largest and the least ones, is the number of thresholds that are
/// at most that logit.
#[test]
fn places_say_how_many_thresholds_are_reached() {
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    let spread: Vec<f64> = (0..3_000).map(|k| f64::from(k * k % 1_013) * 0.01 - 7.0).collect();
    // Most thresholds lie in one cell, because two lie far away.
    let crowded: Vec<f64> = (0..500).map(|k| f64::from(k) * 1e-9).chain([-1e6, 1e6]).collect();
    let lists: [&[f64]; 12] = [
        &[],
        &[-3.0],
        &[2.5; 40],
        &[low; 3],
        &[high; 3],
        &[low, f64::MIN, 0.0, high],
        &[low, low, -1.0, -1.0, 4.0, high, high],
        &[0.0, 5e-324],
        &[f64::MIN, f64::MAX],
        &[-1e-300, 0.0, 1e-300, 1e300],
        &spread,
        &crowded,
    ];
    for list in lists {
        let mut thresholds = list.to_vec();
        thresholds.sort_by(f64::total_cmp);
        let locator = Locator::new(&thresholds);
        let near = |&threshold: &f64| [threshold.next_down(), threshold, threshold.next_up()];
        let between = thresholds.windows(2).map(|two| f64::midpoint(two[0], two[1]));
        for logit in thresholds.iter().flat_map(near).chain(between).chain([low, f64::MIN, 0.0, 1.0, f64::MAX, high]) {
            if logit.is_nan() {
                continue;
            }
            let n_reached = match locator.place(logit) {
                Place::Between { n_held } => locator.first_of_held[n_held] as usize,
                Place::Within { n_reached } => n_reached,
            };
            let expected = thresholds.partition_point(|&threshold| threshold <= logit);
            assert_eq!(
                n_reached,
                expected,
                "{logit} among {} thresholds from {:?}",
                thresholds.len(),
                thresholds.first()
            );
        }
    }
}
