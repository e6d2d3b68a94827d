//! Parts of a graph: of equal size, with few links between them.

use std::collections::{BinaryHeap, VecDeque};

use rand::RngExt;
use veilgraph_contract::StageRng;
use veilgraph_graph::AdjacencyList;

/// Passes in which nodes move to the part of most of their neighbours.
const PASSES: usize = 20;

/// By how much a part may exceed its fair size while nodes move.
const SLACK: f64 = 1.03;

/// The part of each node, below `count`. Parts grow from nodes that lie far apart, each in turn by the node with most links
/// into it; then nodes move to where most of their neighbours are, as long as no part grows too large.
///
/// It stands in for METIS, by which the authors of DPAR cut their graphs, and finds parts of the same kind.
pub(crate) fn parts(links: &AdjacencyList, count: usize, seed: u64) -> Vec<usize> {
    let n = links.n_nodes();
    let mut rng = StageRng::new(seed, "split", 0).fast_stream("parts", 0);
    let mut part = vec![usize::MAX; n];
    let mut sizes = vec![0; count];
    let mut open: Vec<BinaryHeap<(u32, u32)>> = vec![BinaryHeap::new(); count];
    let mut weights = vec![vec![0_u32; n]; count];
    let sources = far_apart(links, count, rng.random_range(0..n.max(1)));
    for (heap, source) in open.iter_mut().zip(sources) {
        heap.push((1, source));
    }
    let mut next = 0;
    for step in 0..n {
        let at = step % count;
        let found = loop {
            match open[at].pop() {
                Some((weight, node)) if part[node as usize] == usize::MAX && weight >= weights[at][node as usize] => {
                    break node;
                }
                Some(_) => {}
                None => {
                    // Nothing is left beside this part: it goes on elsewhere.
                    while part[next] != usize::MAX {
                        next += 1;
                    }
                    break next as u32;
                }
            }
        };
        part[found as usize] = at;
        sizes[at] += 1;
        for &other in links.neighbours(found as usize) {
            let weight = &mut weights[at][other as usize];
            *weight += 1;
            open[at].push((*weight, other));
        }
    }
    refine(links, &mut part, &mut sizes);
    part
}

/// `count` nodes, each far from the ones before; the first is given.
fn far_apart(links: &AdjacencyList, count: usize, first: usize) -> Vec<u32> {
    let mut sources = vec![first as u32];
    let mut distance = vec![u32::MAX; links.n_nodes()];
    while sources.len() < count {
        let mut queue = VecDeque::from([sources[sources.len() - 1]]);
        distance[queue[0] as usize] = 0;
        while let Some(node) = queue.pop_front() {
            let next = distance[node as usize] + 1;
            for &other in links.neighbours(node as usize) {
                if distance[other as usize] > next {
                    distance[other as usize] = next;
                    queue.push_back(other);
                }
            }
        }
        // Nodes that no source reaches come last, for they are mostly single ones.
        let reached = (0..links.n_nodes()).filter(|&node| distance[node] != u32::MAX);
        let farthest = reached.max_by_key(|&node| (distance[node], links.degree(node)));
        sources.push(farthest.unwrap_or(first) as u32);
    }
    sources
}

/// Moves nodes to the part of most of their neighbours.
fn refine(links: &AdjacencyList, part: &mut [usize], sizes: &mut [usize]) {
    let most = (part.len() as f64 / sizes.len() as f64 * SLACK).ceil() as usize;
    for _ in 0..PASSES {
        let mut moved = 0;
        for node in 0..part.len() {
            let mut counts = vec![0_usize; sizes.len()];
            links.neighbours(node).iter().for_each(|&other| counts[part[other as usize]] += 1);
            let here = part[node];
            let best =
                (0..sizes.len()).max_by_key(|&at| (counts[at], at == here, std::cmp::Reverse(at))).unwrap_or(here);
            if counts[best] > counts[here] && sizes[best] < most {
                part[node] = best;
                sizes[here] -= 1;
                sizes[best] += 1;
                moved += 1;
            }
        }
        if moved == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cliques that are linked in a ring: each is a part.
    #[test]
    fn parts_follow_the_links_and_are_of_equal_size() {
        let (count, size) = (5_u32, 20_u32);
        let clique = |at: u32| (0..size).flat_map(move |i| (i + 1..size).map(move |j| (at * size + i, at * size + j)));
        let ring = (0..count).map(|at| (at * size, (at + 1) % count * size)).map(|(i, j)| (i.min(j), i.max(j)));
        let pairs: Vec<(u32, u32)> = (0..count).flat_map(clique).chain(ring).collect();
        let links = AdjacencyList::from_pairs((count * size) as usize, pairs).expect("a graph");
        for seed in 0..5 {
            let found = parts(&links, count as usize, seed);
            let cut = links.links().filter(|&(i, j)| found[i as usize] != found[j as usize]).count();
            assert!(cut <= 60, "seed {seed}: {cut} of {} links are cut", links.n_links());
            for at in 0..count as usize {
                let size = found.iter().filter(|part| **part == at).count();
                assert!((17..=21).contains(&size), "seed {seed}: {size}");
            }
        }
    }

    #[test]
    fn single_nodes_find_a_part() {
        let links = AdjacencyList::from_pairs(10, []).expect("a graph");
        let found = parts(&links, 3, 1);
        assert!(found.iter().all(|part| *part < 3));
    }
}
