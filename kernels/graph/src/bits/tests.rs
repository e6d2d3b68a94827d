use super::*;

fn matrix(n: usize) -> BitMatrix {
    BitMatrix::from_rows(n, |i, row| {
        for j in (0..n).filter(|j| (i * 31 + j * 18) % 7 < 2) {
            row[j / 64] |= 1 << (j % 64);
        }
    })
}

#[test]
fn transposing_swaps_rows_and_columns() {
    for n in [1, 5, 63, 64, 65, 128, 200] {
        let (bits, turned) = (matrix(n), matrix(n).transposed());
        for i in 0..n {
            for j in 0..n {
                assert_eq!(bits.contains(i, j as u32), turned.contains(j, i as u32), "({i}, {j}) of {n}");
            }
        }
        assert_eq!(turned.transposed(), bits);
        assert_eq!(turned.count_ones(), bits.count_ones());
    }
}

#[test]
fn a_bit_and_its_mirror_image_are_set_together() {
    for n in [1, 5, 63, 64, 65, 128, 200, 700] {
        let (bits, turned) = (matrix(n), matrix(n).transposed());
        let mut symmetric = bits.clone();
        symmetric.symmetrize();
        for i in 0..n {
            for j in 0..n as u32 {
                let expected = bits.contains(i, j) || turned.contains(i, j);
                assert_eq!(symmetric.contains(i, j), expected, "({i}, {j}) of {n}");
            }
        }
        assert!(n < 3 || symmetric != bits, "{n} nodes");
    }
}

#[test]
fn ones_are_the_set_columns_in_order() {
    let bits = matrix(150);
    for i in [0, 77, 149] {
        for first in [0, 1, 63, 64, 100, 149, 150, 300] {
            let expected: Vec<u32> = (first as u32..150).filter(|&j| bits.contains(i, j)).collect();
            assert_eq!(bits.ones_from(i, first).collect::<Vec<_>>(), expected, "row {i} from {first}");
            let mut at_once = Vec::new();
            bits.ones_from(i, first).for_each(|column| at_once.push(column));
            assert_eq!(at_once, expected, "row {i} from {first}, all at once");
        }
    }
}

#[test]
fn a_set_bit_is_found() {
    let mut bits = BitMatrix::from_rows(70, |_, _| {});
    bits.set(3, 69);
    assert_eq!(bits.ones(3).collect::<Vec<_>>(), [69]);
    assert_eq!(bits.count_ones(), 1);
}
