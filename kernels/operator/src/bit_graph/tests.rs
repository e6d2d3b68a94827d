use super::*;

/// About a third of all bits, no loops.
fn bits(n: usize) -> BitMatrix {
    let mut bits = BitMatrix::from_rows(n, |_, _| {});
    for (i, j) in
        (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j && (7 * i + 3 * j * j) % 10 < 3)
    {
        bits.set(i, j as u32);
    }
    bits
}

#[test]
fn tables_give_the_sums_of_the_links() {
    for (n, width) in [(5, 1), (64, 16), (130, 7), (200, 9)] {
        let bits = bits(n);
        let graph = BitGraph::new(&bits, true);
        let x: Vec<f32> = (0..n * width).map(|k| ((k * 37) % 101) as f32 - 50.0).collect();
        for adjoint in [false, true] {
            let found = graph.apply(&x, width, adjoint);
            for node in 0..n {
                for lane in 0..width {
                    // Whole numbers this small are summed without rounding.
                    let linked = |other: &usize| {
                        if adjoint { bits.contains(node, *other as u32) } else { bits.contains(*other, node as u32) }
                    };
                    let expected: f32 = (0..n).filter(linked).map(|other| x[other * width + lane]).sum();
                    assert_eq!(found[node * width + lane], expected, "{n} nodes, node {node}, adjoint {adjoint}");
                }
            }
        }
    }
}
