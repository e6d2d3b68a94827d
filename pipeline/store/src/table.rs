//! Artifacts as Parquet files with deterministic bytes.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid};

/// Metadata of our own begin with this; all others are facts of the artifact.
const OURS: &str = "veilgraph.";

/// Writes `artifact`; equal artifacts and metadata give equal bytes.
pub(crate) fn write_table<A: Artifact>(
    artifact: &A,
    metadata: &BTreeMap<String, String>,
    sink: impl Write + Send,
) -> Result<(), ParquetError> {
    let schema = Arc::new(Schema::new(A::COLUMNS.iter().map(|&(name, kind)| field(name, kind)).collect::<Vec<_>>()));
    let ours = metadata.iter().map(|(name, value)| (format!("{OURS}{name}"), value.clone()));
    let pairs: BTreeMap<String, String> = artifact.facts().0.into_iter().chain(ours).collect();
    let pairs = pairs.into_iter().map(|(name, value)| KeyValue::new(name, value)).collect();
    let mut properties = WriterProperties::builder()
        .set_created_by("veilgraph".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(usize::MAX))
        .set_key_value_metadata(Some(pairs));
    for &(name, kind) in A::COLUMNS {
        let column = parquet::schema::types::ColumnPath::from(name);
        properties = match kind {
            ColumnType::U32 | ColumnType::U16 => properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
            ColumnType::F64 => properties.set_column_encoding(column, Encoding::BYTE_STREAM_SPLIT),
            ColumnType::U8 | ColumnType::Utf8 => properties.set_column_dictionary_enabled(column, true),
            ColumnType::F32 | ColumnType::ListU32 | ColumnType::ListF32 => properties,
        };
    }
    let mut writer = ArrowWriter::try_new(sink, schema.clone(), Some(properties.build()))?;
    for block in artifact.blocks() {
        writer.write(&RecordBatch::try_new(schema.clone(), block.into_iter().map(to_array).collect())?)?;
        // One block, one row group: readers can take them one at a time.
        writer.flush()?;
    }
    writer.close()?;
    Ok(())
}

/// Rebuilds an artifact from the bytes of its file.
///
/// # Errors
/// When they are not Parquet, have other columns, or break an invariant of the artifact.
pub fn read_table<A: Artifact>(bytes: Vec<u8>) -> Result<A, Invalid> {
    let wrong = |error: &dyn std::fmt::Display| Invalid(error.to_string());
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).map_err(|error| wrong(&error))?;
    let expected: Vec<_> = A::COLUMNS.iter().map(|&(name, kind)| field(name, kind)).collect();
    let found: Vec<_> = builder.schema().fields().iter().map(|found| found.as_ref().clone()).collect();
    if found != expected {
        let names = |fields: &[Field]| {
            fields.iter().map(|f| format!("{} {}", f.name(), f.data_type())).collect::<Vec<_>>().join(", ")
        };
        return Err(Invalid(format!("its columns are ({}), not ({})", names(&found), names(&expected))));
    }
    let pairs = metadata_pairs(builder.metadata().file_metadata().key_value_metadata());
    let facts =
        Facts(pairs.into_iter().filter(|(name, _)| !name.starts_with(OURS) && !name.starts_with("ARROW:")).collect());
    let rows = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let reader = builder.with_batch_size(rows.clamp(1, 1 << 22)).build().map_err(|error| wrong(&error))?;
    let mut failure = None;
    let mut blocks = reader.map_while(|batch| match batch {
        Ok(batch) => Some(columns_of::<A>(&batch)),
        Err(error) => {
            failure = Some(error.to_string());
            None
        }
    });
    let artifact = A::from_blocks(&facts, &mut blocks);
    match failure {
        Some(problem) => Err(Invalid(problem)),
        None => artifact,
    }
}

/// Key-value metadata of a Parquet file.
///
/// # Errors
/// When the bytes are not Parquet.
pub fn metadata_of(bytes: Vec<u8>) -> Result<BTreeMap<String, String>, Invalid> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
    let builder = builder.map_err(|error| Invalid(error.to_string()))?;
    Ok(metadata_pairs(builder.metadata().file_metadata().key_value_metadata()))
}

fn metadata_pairs(pairs: Option<&Vec<KeyValue>>) -> BTreeMap<String, String> {
    let pairs = pairs.into_iter().flatten();
    pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect()
}

fn field(name: &str, kind: ColumnType) -> Field {
    let list = |item| DataType::List(Arc::new(Field::new("item", item, true)));
    let data_type = match kind {
        ColumnType::U8 => DataType::UInt8,
        ColumnType::U16 => DataType::UInt16,
        ColumnType::U32 => DataType::UInt32,
        ColumnType::F32 => DataType::Float32,
        ColumnType::F64 => DataType::Float64,
        ColumnType::Utf8 => DataType::Utf8,
        ColumnType::ListU32 => list(DataType::UInt32),
        ColumnType::ListF32 => list(DataType::Float32),
    };
    Field::new(name, data_type, false)
}

fn to_array(column: Column) -> ArrayRef {
    fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef
    where
        PrimitiveArray<T>: From<Vec<T::Native>>,
    {
        Arc::new(PrimitiveArray::<T>::from(values))
    }
    fn list<T: ArrowPrimitiveType>(rows: Vec<Vec<T::Native>>) -> ArrayRef {
        let mut builder = ListBuilder::new(PrimitiveBuilder::<T>::new());
        for row in rows {
            builder.values().append_slice(&row);
            builder.append(true);
        }
        Arc::new(builder.finish())
    }
    match column {
        Column::U8(values) => primitive::<UInt8Type>(values),
        Column::U16(values) => primitive::<UInt16Type>(values),
        Column::U32(values) => primitive::<UInt32Type>(values),
        Column::F32(values) => primitive::<Float32Type>(values),
        Column::F64(values) => primitive::<Float64Type>(values),
        Column::Utf8(values) => Arc::new(StringArray::from(values)),
        Column::ListU32(rows) => list::<UInt32Type>(rows),
        Column::ListF32(rows) => list::<Float32Type>(rows),
    }
}

fn columns_of<A: Artifact>(batch: &RecordBatch) -> Vec<Column> {
    fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<T::Native> {
        array.as_primitive::<T>().values().to_vec()
    }
    fn lists<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<Vec<T::Native>> {
        let list = array.as_list::<i32>();
        (0..list.len()).map(|row| values::<T>(&list.value(row))).collect()
    }
    let columns = A::COLUMNS.iter().zip(batch.columns()).map(|(&(_, kind), array)| match kind {
        ColumnType::U8 => Column::U8(values::<UInt8Type>(array)),
        ColumnType::U16 => Column::U16(values::<UInt16Type>(array)),
        ColumnType::U32 => Column::U32(values::<UInt32Type>(array)),
        ColumnType::F32 => Column::F32(values::<Float32Type>(array)),
        ColumnType::F64 => Column::F64(values::<Float64Type>(array)),
        ColumnType::Utf8 => {
            Column::Utf8(array.as_string::<i32>().iter().map(|text| text.unwrap_or_default().to_owned()).collect())
        }
        ColumnType::ListU32 => Column::ListU32(lists::<UInt32Type>(array)),
        ColumnType::ListF32 => Column::ListF32(lists::<Float32Type>(array)),
    });
    columns.collect()
}
