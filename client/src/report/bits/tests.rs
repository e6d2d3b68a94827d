use proptest::prelude::*;

use super::*;

proptest! {
    /// Numbers of any width and runs of any length are read back, and the last byte ends with zeros.
    #[test]
    fn what_is_written_is_read(parts in prop::collection::vec((any::<u32>(), 0_u32..=32, 0_u32..300), 0..40)) {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        for &(value, width, zeros) in &parts {
            writer.write((u64::from(value) & ((1 << width) - 1)) as u32, width);
            writer.write_unary(zeros);
        }
        writer.finish();
        let mut reader = BitReader::new(&bytes);
        for &(value, width, zeros) in &parts {
            prop_assert_eq!(reader.read(width).map(u64::from), Some(u64::from(value) & ((1 << width) - 1)));
            prop_assert_eq!(reader.read_unary(), Some(u64::from(zeros)));
        }
        prop_assert_eq!(reader.finish(), Some(bytes.len()));
    }
}

#[test]
fn the_first_bit_is_the_highest() {
    let mut bytes = Vec::new();
    let mut writer = BitWriter::new(&mut bytes);
    writer.write_unary(2);
    writer.write(0b101, 3);
    writer.finish();
    assert_eq!(bytes, [0b0011_0100]);
}

#[test]
fn the_end_is_no_bit_and_padding_is_zero() {
    let mut reader = BitReader::new(&[0, 0]);
    assert_eq!((reader.read(9), reader.read(8), reader.read_unary()), (Some(0), None, None));
    assert_eq!((reader.n_left(), reader.read(1), BitReader::new(&[]).read_unary()), (0, None, None));
    let mut reader = BitReader::new(&[0b1000_0001]);
    assert_eq!(reader.read(3), Some(4));
    assert_eq!(reader.finish(), None);
}
