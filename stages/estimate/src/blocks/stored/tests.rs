use veilgraph_posterior::LinkEvidence;

use super::*;

/// Among the slots of a hundred nodes, the strong ones have messages with consecutive numbers, each of which knows the one
/// of the other direction; with a bound there are only so many, the strongest.
#[test]
fn kept_messages_are_numbered_and_know_the_other_direction() {
    let row = |i: u32| (i + 1..100).filter(|j| (i * 7 + j * 3).is_multiple_of(5)).map(|j| (j, 2)).collect::<Vec<_>>();
    let pairs = DoubleClaimPairs::new(&LinkEvidence::from_rows((0..100).map(row)).expect("valid"));
    let strength = |node: usize, slot: usize| {
        let partner = pairs.partners[slot] as usize;
        ((node.min(partner) * 31 + node.max(partner) * 17) % 100) as f32 / 100.0
    };
    for most in [usize::MAX, 40] {
        let stored = Stored::new(&pairs, strength, most);
        let (mut n_kept, mut weakest_kept, mut strongest_other) = (0, 1.0_f32, 0.0_f32);
        for node in 0..100 {
            assert_eq!(stored.offsets[node], n_kept, "node {node}");
            for slot in pairs.slots(node) {
                let Some(number) = stored.number(slot) else {
                    strongest_other = strongest_other.max(strength(node, slot));
                    continue;
                };
                assert_eq!(number, n_kept);
                let partner = pairs.partners[slot] as usize;
                let back = pairs.slots(partner).find(|&back| pairs.partners[back] as usize == node).expect("listed");
                assert_eq!(stored.number(back), Some(stored.reverse[number] as usize));
                weakest_kept = weakest_kept.min(strength(node, slot));
                n_kept += 1;
            }
        }
        assert_eq!((stored.n_messages(), stored.offsets[100]), (n_kept, n_kept));
        assert!(0 < n_kept && n_kept <= most, "{n_kept}");
        assert!(strongest_other < weakest_kept && weakest_kept > 0.5, "{strongest_other} {weakest_kept}");
    }
}
