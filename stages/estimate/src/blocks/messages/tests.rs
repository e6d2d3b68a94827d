use veilgraph_graph::ClassBeliefs;
use veilgraph_posterior::{LinkEvidence, SimilarPairs};

use super::*;
use crate::similar_claims::SimilarClaims;

/// Where the compiler knows the number of classes, every node is updated to the same bits as where it does not, with kept
/// messages and without.
#[test]
fn a_width_that_the_compiler_knows_changes_no_bit() {
    same_bits_with_classes::<3>();
    same_bits_with_classes::<6>();
    same_bits_with_classes::<12>();
}

fn same_bits_with_classes<const CLASSES: usize>() {
    let claimed = |i: u32| (i + 1..40).filter(|j| (i * 7 + j * 3).is_multiple_of(4)).map(|j| (j, 2)).collect();
    let alike = |i: u32| (i + 1..40).step_by(3).map(|j| (j, 1)).collect();
    let similar = SimilarPairs::from_rows(1, (0..40).map(alike)).expect("valid");
    let evidence = LinkEvidence::from_rows((0..40).map(claimed)).expect("valid");
    let evidence = evidence.with_similar(similar).expect("same size");
    let prior = |node: usize| {
        // The first class has half of the belief, the others share the rest equally.
        let mut row = [0.5 / (CLASSES as f32 - 1.0); CLASSES];
        row[0] = 0.5;
        row.rotate_left(node % CLASSES);
        row
    };
    let prior = ClassBeliefs::new(CLASSES, (0..40).flat_map(prior).collect()).expect("sums to 1");
    let known = (0..40_usize).map(|node| node.is_multiple_of(5).then_some(1)).collect();
    let classes = KnownClasses { prior, known, validation: Vec::new(), coordinates: None };
    let (similar, pairs) = (SimilarClaims::new(&evidence), DoubleClaimPairs::new(&evidence));
    // Every fourth node is nearly isolated, so that its claims say little; the last one is among these.
    let degree = |node: i32| if node % 4 == 3 { 0.02 } else { f64::from(1 + node % 7) };
    let degrees: Vec<f64> = (0..40).map(degree).collect();
    let (learned, unclaimed) = (Learned::new(&degrees, &similar, CLASSES), Unclaimed::new(&similar));
    let mut messages = Messages::new(&pairs, &classes);
    messages.propagate(&learned, &unclaimed, &classes, ClaimRatios::new(1.0), 100 * CLASSES, 2);
    let n_kept = messages.stored.n_messages();
    assert!(0 < n_kept && n_kept < pairs.n_slots(), "{n_kept} of {}", pairs.n_slots());
    let weight_by_class = (0..CLASSES).map(|class| 0.5 + 0.2 * class as f64).collect();
    let background = Background { weight_by_class, per_weight: -0.4, less_one: -0.9, learned: &learned };
    let told = (&background, &unclaimed, &classes);
    // The padded row of the last node would end behind the beliefs.
    let is_weak = |&slot: &usize| {
        let of_last = (39, messages.pairs.partners[slot] as usize, messages.gain(39, slot));
        messages.add_weak::<CLASSES>(of_last, &mut [0.0; told::MOST_PADDED], &mut [0.0; CLASSES])
    };
    assert!(messages.pairs.slots(39).filter(is_weak).count() > 0, "the last node has weak claims");
    for node in 0..40 {
        let updated = |knows_width: bool| {
            let n_outgoing = messages.stored.offsets[node + 1] - messages.stored.offsets[node];
            let mut room = Room::new(CLASSES);
            let (mut outgoing, mut belief, mut field) =
                (vec![0.0; CLASSES * n_outgoing], vec![0.0; CLASSES], vec![0.0; CLASSES]);
            let mut next = Update { outgoing: &mut outgoing, belief: &mut belief, field: &mut field };
            let change = if knows_width {
                messages.update::<CLASSES>(node, told, &mut room, &mut next)
            } else {
                messages.update::<0>(node, told, &mut room, &mut next)
            };
            (change, outgoing, belief, field)
        };
        let (here, there) = (updated(true), updated(false));
        assert!((here.2.iter().sum::<f32>() - 1.0).abs() < 1e-5, "node {node}: {:?}", here.2);
        assert_eq!(here, there, "node {node}");
    }
}
