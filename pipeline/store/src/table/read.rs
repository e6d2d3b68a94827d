//! Row groups become blocks of columns.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::Field;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;
use veilgraph_contract::{Artifact, Blocks, Column, ColumnType, Facts, Invalid, among_rows, until_error};

use super::promised::{Promised, promise};
use super::{ArtifactType, OURS, columns_of, field, row_groups_at_a_time};

/// An open Parquet file of an artifact, of which only the metadata have been read.
#[derive(Clone)]
pub(crate) struct Table {
    file: SharedFile,
    metadata: ArrowReaderMetadata,
    facts: Facts,
    artifact: ArtifactType,
}

impl Table {
    /// Reads schema and facts.
    ///
    /// # Errors
    /// When the file is not Parquet or has other columns than the artifact.
    pub(crate) fn open(artifact: ArtifactType, file: File) -> Result<Self, Invalid> {
        let file = SharedFile::new(file).map_err(|error| Invalid(error.to_string()))?;
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).map_err(|error| invalid(&error))?;
        let expected: Vec<_> = artifact.columns.iter().map(|&(name, kind)| field(name, kind)).collect();
        let found: Vec<_> = metadata.schema().fields().iter().map(|found| found.as_ref().clone()).collect();
        if found != expected {
            let names = |fields: &[Field]| {
                fields.iter().map(|f| format!("{} {}", f.name(), f.data_type())).collect::<Vec<_>>().join(", ")
            };
            return Err(Invalid(format!("its columns are ({}), not ({})", names(&found), names(&expected))));
        }
        let pairs = pairs_of(&metadata);
        let is_fact = |name: &String| !name.starts_with(OURS) && !name.starts_with("ARROW:");
        let facts = Facts(pairs.into_iter().filter(|(name, _)| is_fact(name)).collect());
        Ok(Self { file, metadata, facts, artifact })
    }

    /// Refuses a table that calls itself another artifact, or one of another zone.
    ///
    /// # Errors
    /// When its metadata say so.
    pub(crate) fn check_name(&self) -> Result<(), Invalid> {
        let pairs = pairs_of(&self.metadata);
        let found = |name: &str| pairs.get(&format!("{OURS}{name}")).map_or("nothing", String::as_str);
        let (name, zone) = (found("artifact"), found("zone"));
        let artifact = self.artifact;
        if name == artifact.name && zone == artifact.zone.name() {
            return Ok(());
        }
        Err(Invalid(format!(
            "it calls itself `{name}` of the zone {zone}, not `{}` of the zone {}",
            artifact.name,
            artifact.zone.name()
        )))
    }

    /// What the table says beside its rows.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Bytes of all values once they are decoded; texts count as they are encoded.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let groups = self.metadata.metadata().row_groups().iter();
        let chunks = groups.flat_map(|group| self.artifact.columns.iter().zip(group.columns()));
        let bytes = chunks.map(|((_, kind), chunk)| {
            let (number, of_each) = match kind {
                ColumnType::Utf8 => (chunk.uncompressed_size(), 1),
                ColumnType::U8 => (chunk.num_values(), 1),
                ColumnType::U16 => (chunk.num_values(), 2),
                ColumnType::U32 | ColumnType::F32 | ColumnType::ListU32 | ColumnType::ListF32 => {
                    (chunk.num_values(), 4)
                }
                ColumnType::F64 => (chunk.num_values(), 8),
            };
            // A forged file may claim any number.
            u64::try_from(number).unwrap_or(u64::MAX).saturating_mul(of_each)
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// Rebuilds the artifact, a few row groups at a time.
    ///
    /// # Errors
    /// When the rows cannot be decoded or break an invariant of the artifact.
    pub(crate) fn read<A: Artifact>(&self, attachment: Option<&[u8]>) -> Result<A, Invalid> {
        let all = (0..self.metadata.metadata().num_row_groups()).collect();
        until_error(self.blocks(all), |blocks| A::from_parts(&self.facts, blocks, attachment))?
    }

    /// The rows whose first value is in the range; only the row groups that may have some are read.
    pub(crate) fn rows(&self, rows: Range<u32>) -> Blocks {
        let groups = (0..self.metadata.metadata().num_row_groups()).filter(|&group| {
            // Unsigned numbers are stored as signed ones of the same bits.
            let statistics = self.metadata.metadata().row_group(group).column(0).statistics();
            let limits = statistics.and_then(|statistics| match statistics {
                Statistics::Int32(values) => Some((*values.min_opt()? as u32, *values.max_opt()? as u32)),
                _ => None,
            });
            limits.is_none_or(|(least, largest)| least < rows.end && largest >= rows.start)
        });
        let blocks = self.blocks(groups.collect());
        Box::new(blocks.map(move |block| among_rows(block?, &rows)))
    }

    /// The blocks of these row groups, of which a few are decoded at a time, while whoever asks for blocks reads earlier ones. A
    /// single one is decoded by whoever asks for it. Where the iterator is dropped, row groups that the pool was already given
    /// are still decoded, and their blocks dropped.
    fn blocks(&self, groups: Vec<usize>) -> Blocks {
        let (table, is_single) = (Arc::new(self.clone()), groups.len() == 1);
        let (mut groups, mut decoded) = (groups.into_iter(), VecDeque::new());
        let row_groups = std::iter::from_fn(move || {
            while decoded.len() < row_groups_at_a_time()
                && let Some(group) = groups.next()
            {
                let table = table.clone();
                let (run, promised) = promise(move || table.decode(group));
                if is_single {
                    run();
                } else {
                    rayon::spawn(run);
                }
                decoded.push_back(promised);
            }
            decoded.pop_front().map(Promised::wait)
        });
        let blocks = row_groups.flat_map(|blocks| -> Vec<Result<Vec<Column>, Invalid>> {
            match blocks {
                Ok(blocks) => blocks.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(invalid(&error))],
            }
        });
        Box::new(blocks)
    }

    /// The blocks of one row group.
    fn decode(&self, group: usize) -> Result<Vec<Vec<Column>>, ParquetError> {
        let rows = usize::try_from(self.metadata.metadata().row_group(group).num_rows()).unwrap_or(0);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.metadata.clone())
            .with_row_groups(vec![group])
            .with_batch_size(rows.clamp(1, 1 << 22))
            .build()?;
        reader.map(|batch| Ok(columns_of(&batch?, self.artifact.columns))).collect()
    }
}

/// Rebuilds an artifact from a file, whatever its digest.
///
/// # Errors
/// When it cannot be read, is not Parquet, has other columns, or breaks an invariant of the artifact.
pub fn read_table<A: Artifact>(path: &Path) -> Result<A, Invalid> {
    let file = File::open(path).map_err(|error| Invalid(error.to_string()))?;
    Table::open(ArtifactType::of::<A>(), file)?.read(None)
}

/// Key-value metadata of a Parquet file.
///
/// # Errors
/// When it cannot be read or is not Parquet.
pub fn metadata_of(path: &Path) -> Result<BTreeMap<String, String>, Invalid> {
    let file = File::open(path).map_err(|error| Invalid(error.to_string()))?;
    Ok(pairs_of(&ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).map_err(|error| invalid(&error))?))
}

fn pairs_of(metadata: &ArrowReaderMetadata) -> BTreeMap<String, String> {
    let pairs = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    pairs.map(|KeyValue { key, value }| (key.clone(), value.clone().unwrap_or_default())).collect()
}

fn invalid(error: &ParquetError) -> Invalid {
    Invalid(error.to_string())
}

/// A file that several threads read at positions of their own.
#[derive(Clone)]
struct SharedFile {
    file: Arc<File>,
    length: u64,
}

/// The rest of a file from a position on.
struct Tail {
    file: SharedFile,
    position: u64,
}

impl SharedFile {
    fn new(file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<Tail>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(Tail { file: self.clone(), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // A length comes from the file: it must not exhaust the memory before the end is noticed.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.length)));
        }
        let mut buffer = vec![0; length];
        self.file.read_exact_at(&mut buffer, start)?;
        Ok(buffer.into())
    }
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.file.file.read_at(buffer, self.position)?;
        self.position += length as u64;
        Ok(length)
    }
}
