//! The bytes of a report: see docs/report-format.md.

use alloc::vec::Vec;

use super::bits::BitWriter;
use super::golomb::Golomb;
use super::{Report, varint};
use crate::PublicParameters;

/// What the bytes of a report begin with; the fourth is the version of the format.
pub(super) const MAGIC: [u8; 4] = *b"VGR1";
/// Flag of a report whose noise comes from a seed.
pub(super) const SIMULATED: u8 = 1;
/// Flag of a report that ends with a degree.
pub(super) const HAS_DEGREE: u8 = 2;
/// Bytes before the list: the magic bytes, flags, digest of the parameters, and number of the node.
pub(super) const HEADER: usize = 4 + 1 + 16 + 4;
/// Bytes of the checksum at the end.
pub(super) const CHECKSUM: usize = 8;

/// The report as bytes, which [`decode`](super::decode()) reads back.
///
/// The list takes about as many bits as its noise has entropy: see [`PublicParameters::list_entropy`].
///
/// # Panics
/// When the report was made for other parameters.
#[must_use]
pub fn encode(report: &Report, parameters: &PublicParameters) -> Vec<u8> {
    assert!(report.parameters == parameters.digest(), "the report was made for other parameters");
    let mut bytes = Vec::new();
    bytes.extend(MAGIC);
    let degree_flag = if report.degree.is_some() { HAS_DEGREE } else { 0 };
    bytes.push(degree_flag | if report.is_simulated { SIMULATED } else { 0 });
    bytes.extend(report.parameters);
    bytes.extend(report.node.to_le_bytes());
    write_list(&report.ones, Golomb::of(parameters.flip_probability()), &mut bytes);
    if let Some(degree) = report.degree {
        varint::write(varint::zigzag(degree), &mut bytes);
    }
    let checksum = checksum(&bytes);
    bytes.extend(checksum);
    bytes
}

fn write_list(ones: &[u32], code: Golomb, bytes: &mut Vec<u8>) {
    varint::write(ones.len() as u64, bytes);
    let mut bits = BitWriter::new(bytes);
    let mut first = 0;
    for &one in ones {
        code.write(one - first, &mut bits);
        first = one + 1;
    }
    bits.finish();
}

pub(super) fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let digest = blake3::derive_key("veilgraph 2026-11 checksum of reports v1", bytes);
    core::array::from_fn(|at| digest[at])
}
