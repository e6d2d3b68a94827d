use veilgraph_posterior::{LinkEvidence, SimilarPairs};

use super::*;

/// The ranges of all stripes hold every pair once, in the range of its later node, and a pair twice that is claimed and similar.
#[test]
fn ranges_hold_every_pair_once() {
    let claimed = |i: u32| (i + 1..50).filter(|j| (i + j).is_multiple_of(3)).map(|j| (j, 1 + (j % 2) as u8)).collect();
    let alike = |i: u32| (i + 1..50).filter(|j| (i * j) % 4 == 1).map(|j| (j, 200 + (j % 3) as u8)).collect();
    let evidence = LinkEvidence::from_rows((0..50).map(claimed)).expect("valid");
    let evidence =
        evidence.with_similar(SimilarPairs::from_rows(202, (0..50).map(alike)).expect("valid")).expect("same size");
    let similar = SimilarClaims::new(&evidence);
    for (with_claims, nodes_per_range) in [(true, 16), (true, 50), (false, 7)] {
        let ranges = PartnerRanges::new(&similar, with_claims, nodes_per_range);
        let mut found = Vec::new();
        for stripe in 0..STRIPES {
            let of_stripe = &ranges.all()[ranges.of_stripe(stripe)];
            assert_eq!(of_stripe.len(), 50_usize.div_ceil(nodes_per_range));
            for (number, range) in of_stripe.iter().enumerate() {
                assert_eq!(range.first_partner, number * ranges.nodes_per_range());
                assert_eq!(range.rows().map(|(_, pairs)| pairs.len()).sum::<usize>(), range.pairs.len());
                for (i, pairs) in range.rows() {
                    assert_eq!(i % STRIPES, stripe);
                    assert!(pairs.iter().all(|pair| usize::from(pair.partner) < nodes_per_range));
                    found.extend(
                        pairs.iter().map(|pair| (i, range.first_partner + usize::from(pair.partner), pair.code)),
                    );
                }
            }
        }
        let mut expected = Vec::new();
        for i in 0..50 {
            let claims = evidence.claims(i).filter(|_| with_claims);
            expected.extend(claims.map(|(j, claims)| (i, j as usize, u16::from(claims))));
            let bins = evidence.similar().row(i);
            expected
                .extend(bins.map(|(j, bin)| (i, j as usize, 3 * u16::from(bin) + u16::from(evidence.n_claims(i, j)))));
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert!(expected.iter().any(|&(_, _, code)| code > 255), "codes beyond a byte");
        assert_eq!(found, expected);
    }
}

#[test]
fn large_graphs_alone_have_ranges() {
    let evidence = LinkEvidence::from_rows((0..50).map(|_| Vec::new())).expect("valid");
    assert!(SimilarClaims::new(&evidence).ranges(true).is_none());
    let large =
        LinkEvidence::from_rows((0..LEAST_NODES as u32).map(|i| if i == 3 { vec![(65_536, 1)] } else { Vec::new() }));
    let large = large.expect("valid");
    let similar = SimilarClaims::new(&large);
    let ranges = similar.ranges(true).expect("a large graph");
    assert_eq!(ranges.all().len(), 3 * STRIPES);
    let last = &ranges.all()[ranges.of_stripe(3).end - 1];
    assert_eq!(last.rows().map(|(i, pairs)| (i, pairs[0].partner, pairs[0].code)).collect::<Vec<_>>(), [(3, 0, 1)]);
    assert_eq!(
        similar.ranges(false).expect("a large graph").all().iter().map(|range| range.pairs.len()).sum::<usize>(),
        0
    );
}
