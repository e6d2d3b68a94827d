use proptest::prelude::*;

use super::*;

fn written(value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(value, &mut bytes);
    bytes
}

proptest! {
    #[test]
    fn integers_are_read_back(value: u64, shift in 0_u32..64, signed: i64) {
        let bytes = written(value >> shift);
        prop_assert_eq!(read(&bytes), Read::Value(value >> shift, bytes.len()));
        prop_assert_eq!(read(&bytes[..bytes.len() - 1]), Read::Ended);
        prop_assert_eq!(unzigzag(zigzag(signed)), signed);
    }

    #[test]
    fn whatever_is_read_is_what_would_be_written(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        if let Read::Value(value, n_bytes) = read(&bytes) {
            prop_assert_eq!(written(value), &bytes[..n_bytes]);
        }
    }
}

#[test]
fn small_magnitudes_are_short() {
    assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
    assert_eq!(unzigzag(u64::MAX), i64::MIN);
    assert_eq!(written(300), [0xac, 0x02]);
}

#[test]
fn idle_bytes_and_more_than_64_bits_are_refused() {
    assert_eq!(read(&[0x80, 0x00]), Read::NotCanonical);
    assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), Read::NotCanonical);
    assert_eq!(read(&written(u64::MAX)), Read::Value(u64::MAX, 10));
}
