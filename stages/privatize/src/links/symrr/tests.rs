use super::*;
use crate::tests::{nats, ring};

#[test]
fn symmetric_reports_name_each_pair_once() {
    for (triangle, most) in [(Triangle::Strict, 0), (Triangle::PublishedCode, 1)] {
        let params = Params { epsilon: nats(0.5), triangle };
        let (links,) = crate::tests::run::<SymRr>(&ring(300), &params, 3).expect("valid");
        let links = links.collect().expect("valid reports");
        let ahead: Vec<u32> =
            (0..300).flat_map(|node| links.ones(node).map(move |one| one.saturating_sub(node as u32))).collect();
        assert!(ahead.iter().all(|&ahead| ahead <= most), "{triangle:?}");
        assert_eq!(ahead.contains(&1), most == 1);
    }
}
