//! A report from bytes that nobody vouches for.

use alloc::vec::Vec;
use core::fmt;

use super::bits::BitReader;
use super::encode::{CHECKSUM, HAS_DEGREE, HEADER, MAGIC, SIMULATED, checksum};
use super::golomb::Golomb;
use super::varint::{self, unzigzag};
use super::{Report, ReportError};
use crate::PublicParameters;

/// Why bytes are no report for these parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The node that the bytes name, where they are long enough. It may be wrong where the bytes are damaged.
    pub node: Option<u32>,
    /// What is wrong.
    pub defect: Defect,
}

/// What is wrong with bytes that should be a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// They do not begin as a report does.
    NotAReport,
    /// The format has another version; this is its byte.
    Version(u8),
    /// They end too early.
    Truncated,
    /// They are not those that were written.
    Checksum,
    /// The report was made for other parameters.
    OtherParameters,
    /// A flag is set that has no meaning.
    Flags(u8),
    /// The same report would be written in other bytes.
    NotCanonical,
    /// So many bytes follow its end.
    BytesAfterTheEnd(usize),
    /// What they hold does not fit the parameters.
    Content(ReportError),
}

/// The report that these bytes hold.
///
/// A report has one sequence of bytes: whatever is accepted is what [`encode`](super::encode()) writes.
///
/// # Errors
/// When the bytes are no report, are damaged, or were made for other parameters.
///
/// # Complexity
/// Linear in the bytes, also in memory, whatever lengths they claim.
pub fn decode(bytes: &[u8], parameters: &PublicParameters) -> Result<Report, DecodeError> {
    let is_of_this_version = bytes.starts_with(&MAGIC);
    let number = bytes.get(HEADER - 4..HEADER).and_then(|number| number.try_into().ok()).map(u32::from_le_bytes);
    read(bytes, parameters).map_err(|defect| DecodeError { node: number.filter(|_| is_of_this_version), defect })
}

fn read(bytes: &[u8], parameters: &PublicParameters) -> Result<Report, Defect> {
    match bytes.get(..MAGIC.len()) {
        Some(magic) if magic == MAGIC => {}
        Some(magic) if magic[..3] == MAGIC[..3] => return Err(Defect::Version(magic[3])),
        None if MAGIC.starts_with(bytes) => return Err(Defect::Truncated),
        _ => return Err(Defect::NotAReport),
    }
    let Some((content, sum)) = bytes.split_last_chunk::<CHECKSUM>().filter(|(content, _)| content.len() >= HEADER)
    else {
        return Err(Defect::Truncated);
    };
    if checksum(content) != *sum {
        return Err(damage(bytes, parameters));
    }
    let (report, end) = read_content(content, parameters)?;
    if end < content.len() { Err(Defect::BytesAfterTheEnd(content.len() - end)) } else { Ok(report) }
}

/// What is wrong with bytes whose last eight are not their checksum.
fn damage(bytes: &[u8], parameters: &PublicParameters) -> Defect {
    match read_content(bytes, parameters) {
        Err(Defect::Truncated) => Defect::Truncated,
        Ok((_, end)) if end + CHECKSUM > bytes.len() => Defect::Truncated,
        Ok((_, end)) if bytes[end..].starts_with(&checksum(&bytes[..end])) => {
            Defect::BytesAfterTheEnd(bytes.len() - end - CHECKSUM)
        }
        _ => Defect::Checksum,
    }
}

/// The report before its checksum, and where it ends. There are at least [`HEADER`] bytes.
fn read_content(bytes: &[u8], parameters: &PublicParameters) -> Result<(Report, usize), Defect> {
    let (flags, digest) = (bytes[4], &bytes[5..21]);
    if digest != parameters.digest() {
        return Err(Defect::OtherParameters);
    }
    if flags & !(SIMULATED | HAS_DEGREE) != 0 {
        return Err(Defect::Flags(flags));
    }
    let node = u32::from_le_bytes([bytes[21], bytes[22], bytes[23], bytes[24]]);
    if node >= parameters.n_nodes() {
        return Err(Defect::Content(ReportError::NoSuchNode { node, n_nodes: parameters.n_nodes() }));
    }
    let mut end = HEADER;
    let count = read_integer(bytes, &mut end)?;
    let ones =
        read_list(count, parameters.list_length(node), Golomb::of(parameters.flip_probability()), bytes, &mut end)?;
    let degree = if flags & HAS_DEGREE == 0 { None } else { Some(unzigzag(read_integer(bytes, &mut end)?)) };
    let report = Report::new(parameters, node, ones, degree).map_err(Defect::Content)?;
    Ok((if flags & SIMULATED == 0 { report } else { report.simulated() }, end))
}

fn read_integer(bytes: &[u8], end: &mut usize) -> Result<u64, Defect> {
    match varint::read(&bytes[*end..]) {
        varint::Read::Value(value, n_bytes) => {
            *end += n_bytes;
            Ok(value)
        }
        varint::Read::Ended => Err(Defect::Truncated),
        varint::Read::NotCanonical => Err(Defect::NotCanonical),
    }
}

fn read_list(count: u64, length: u32, code: Golomb, bytes: &[u8], end: &mut usize) -> Result<Vec<u32>, Defect> {
    let mut bits = BitReader::new(&bytes[*end..]);
    // Each one takes a bit at least, so the bytes bound the list, whatever count they claim.
    if count > bits.n_left() as u64 {
        return Err(Defect::Truncated);
    }
    let mut ones = Vec::with_capacity(count.min(u64::from(length)) as usize);
    let mut first = 0;
    for _ in 0..count {
        let one = code.read(&mut bits).ok_or(Defect::Truncated)?.saturating_add(first);
        if one >= u64::from(length) {
            return Err(Defect::Content(ReportError::OutOfRange { other: one, length }));
        }
        ones.push(one as u32);
        first = one + 1;
    }
    *end += bits.finish().ok_or(Defect::NotCanonical)?;
    Ok(ones)
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if let Some(node) = self.node {
            write!(formatter, "report of node {node}: ")?;
        }
        match self.defect {
            Defect::NotAReport => write!(formatter, "these bytes are no report"),
            Defect::Version(byte) => {
                write!(
                    formatter,
                    "the report has version `{}` of the format, and this program reads `1`",
                    byte.escape_ascii()
                )
            }
            Defect::Truncated => write!(formatter, "the report is cut short or damaged"),
            Defect::Checksum => write!(formatter, "the report is damaged: its checksum is another one"),
            Defect::OtherParameters => write!(
                formatter,
                "the report was made for other parameters: another population, mechanism, number or numbering of nodes, budget, \
                 or release"
            ),
            Defect::Flags(flags) => write!(formatter, "the flags {flags:#010b} have no meaning"),
            Defect::NotCanonical => write!(formatter, "the report is not written in its shortest form"),
            Defect::BytesAfterTheEnd(count) => write!(formatter, "bytes after the end of the report: {count}"),
            Defect::Content(error) => error.fmt(formatter),
        }
    }
}

impl core::error::Error for DecodeError {}
