//! Blocks of columns become row groups.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use veilgraph_contract::{Column, ColumnType, Facts};

use super::promised::promise;
use super::{OURS, field, row_groups_at_a_time, to_array};

/// Writes a table with these columns block by block; equal content and metadata give equal bytes.
pub(crate) fn write_table(
    columns: &[(&str, ColumnType)],
    facts: &Facts,
    blocks: &mut dyn Iterator<Item = Vec<Column>>,
    metadata: &BTreeMap<String, String>,
    sink: impl Write + Send,
) -> Result<()> {
    let schema = Arc::new(Schema::new(columns.iter().map(|&(name, kind)| field(name, kind)).collect::<Vec<_>>()));
    let ours = metadata.iter().map(|(name, value)| (format!("{OURS}{name}"), value.clone()));
    let pairs: BTreeMap<String, String> = facts.0.clone().into_iter().chain(ours).collect();
    let pairs = pairs.into_iter().map(|(name, value)| KeyValue::new(name, value)).collect();
    let mut properties = WriterProperties::builder()
        .set_created_by("veilgraph".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(usize::MAX))
        .set_key_value_metadata(Some(pairs));
    for &(name, kind) in columns {
        properties = encoded(properties, ColumnPath::from(name), kind);
    }
    let writer = ArrowWriter::try_new(sink, schema.clone(), Some(properties.build()))?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    let (factory, schema) = (&factory, &schema);
    // This thread makes blocks and writes row groups, while others encode what comes between the two.
    rayon::in_place_scope(|scope| -> Result<()> {
        let mut encoded = VecDeque::new();
        let mut blocks = blocks.fuse().enumerate();
        loop {
            while encoded.len() < row_groups_at_a_time()
                && let Some((index, block)) = blocks.next()
            {
                let (run, promised) = promise(move || encode(factory, schema, index, block));
                scope.spawn(move |_| run());
                encoded.push_back(promised);
            }
            let Some(next) = encoded.pop_front() else { return Ok(()) };
            let chunks = next.wait()?;
            let mut group = file.next_row_group()?;
            chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut group))?;
            group.close()?;
        }
    })?;
    file.close()?;
    Ok(())
}

/// One block as the columns of one row group.
fn encode(
    factory: &ArrowRowGroupWriterFactory,
    schema: &SchemaRef,
    index: usize,
    block: Vec<Column>,
) -> Result<Vec<ArrowColumnChunk>> {
    let lengths: Vec<usize> = block.iter().map(Column::len).collect();
    if block.len() != schema.fields().len() || lengths.iter().any(|&length| length != lengths[0]) {
        return Err(ParquetError::General(format!("block {index} has columns of {lengths:?} rows")));
    }
    let mut writers = factory.create_column_writers(index)?.into_iter();
    let mut chunks = Vec::new();
    for (field, column) in schema.fields().iter().zip(block) {
        for (leaf, mut writer) in compute_leaves(field, &to_array(column))?.iter().zip(writers.by_ref()) {
            writer.write(leaf)?;
            chunks.push(writer.close()?);
        }
    }
    Ok(chunks)
}

/// The encoding that suits a type: small differences, real numbers, repeated texts.
fn encoded(properties: WriterPropertiesBuilder, column: ColumnPath, kind: ColumnType) -> WriterPropertiesBuilder {
    match kind {
        ColumnType::U32 | ColumnType::U16 | ColumnType::U8 => {
            properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
        }
        ColumnType::F64 => properties.set_column_encoding(column, Encoding::BYTE_STREAM_SPLIT),
        ColumnType::Utf8 => properties.set_column_dictionary_enabled(column, true),
        ColumnType::F32 | ColumnType::ListU32 | ColumnType::ListF32 => properties,
    }
}
