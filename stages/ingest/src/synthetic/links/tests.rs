use veilgraph_contract::StageRng;

use super::*;

/// More links than a batch has, with two classes at some nodes, are those that are drawn and looked up one by one, whatever
/// the number of threads.
#[test]
fn batches_and_threads_change_no_link() {
    let params = SyntheticParams { nodes: 20_000, mean_degree: 7.0, classes: 3, ..SyntheticParams::default() };
    let classes: Vec<u16> = (0..params.nodes).map(|node| (node % 3) as u16).collect();
    let second: Vec<Option<u16>> =
        (0..params.nodes).map(|node| (node % 7 == 0).then_some(((node + 1) % 3) as u16)).collect();
    let topics = Topics { classes: &classes, second: &second };
    let stream = || StageRng::new(1, "synthetic", 0).fast_stream("links", 0);

    let rng = &mut stream();
    let ends = Ends::new(&params, topics, &draw_weights(&params, rng));
    let wanted = 70_000;
    let mut one_by_one = std::collections::BTreeSet::new();
    while one_by_one.len() < wanted {
        for _ in 0..wanted - one_by_one.len() {
            one_by_one.extend(ends.link(&ends.draw(rng)));
        }
    }
    let one_by_one: Vec<(u32, u32)> = one_by_one.into_iter().map(|link| ((link >> 32) as u32, link as u32)).collect();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        assert!(pool.install(|| draw_links(&params, topics, &mut stream())) == one_by_one, "{threads} threads");
    }
}
