use super::*;

#[test]
fn features_lie_where_their_values_say() {
    let view = FeatureView::new(7, 5, (&[1, 3], &[2.0, 9.0]), [-1.0, 3.0]);
    assert_eq!(view.shares().collect::<Vec<_>>(), [0.25, 0.75, 0.25, 1.0, 0.25]);
    assert!((0..5).zip(view.shares()).all(|(feature, share)| view.share(feature) == share));
    assert_eq!((view.node(), view.n_features()), (7, 5));
    assert!(!view.is_in_range(), "9 exceeds 3");
}

/// Values are stored in single precision, and so are the ends that they are compared with.
#[test]
fn a_value_at_the_end_of_the_range_lies_in_it() {
    assert!(FeatureView::new(0, 2, (&[0], &[0.1]), [0.0, 0.1]).is_in_range());
    assert!(FeatureView::new(0, 1, (&[0], &[0.1]), [0.1, 0.3]).is_in_range());
    assert!(!FeatureView::new(0, 2, (&[0], &[0.1]), [0.1, 0.3]).is_in_range(), "the unlisted feature is 0");
}

#[test]
fn a_node_without_information_says_the_middle_of_everything() {
    let view = FeatureView::without_information(0, 3, [2.0, 5.0]);
    assert_eq!(view.shares().collect::<Vec<_>>(), [0.5; 3]);
    assert_eq!(view.share(2), 0.5);
}
