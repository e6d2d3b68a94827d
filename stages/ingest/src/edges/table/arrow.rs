//! Arrow files, which are also called Feather or IPC.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, convert::try_fb_to_schema, root_as_footer, root_as_message};
use arrow_schema::DataType;

use super::Row;
use super::parquet::{guarded, refuse_bomb};
use crate::error::Error;
use crate::raw::Files;

/// The names of the columns and the rows of an Arrow file.
pub(super) fn read(files: &Files, file: &str) -> Result<(Vec<String>, Vec<Row>), Error> {
    let bytes = Buffer::from_vec(files.bytes(file)?.into_owned());
    guarded(file, "Arrow", || {
        let mut names: Vec<String> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        for batch in batches(&bytes)? {
            names = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
            refuse_bomb(rows.len().saturating_add(batch.num_rows()), bytes.len())?;
            let columns: Result<Vec<Vec<String>>, String> =
                batch.columns().iter().zip(&names).map(|(column, name)| texts(column, name)).collect();
            let mut columns: Vec<_> = columns?.into_iter().map(Vec::into_iter).collect();
            for _ in 0..batch.num_rows() {
                let row = columns.iter_mut().filter_map(Iterator::next).collect();
                rows.push((rows.len() as u64 + 1, row));
            }
        }
        Ok((names, rows))
    })
}

/// The batches of a file. Every length that the file declares is compared with the file before anything is allocated.
fn batches(bytes: &Buffer) -> Result<Vec<RecordBatch>, String> {
    const TRAILER: usize = 10;
    let text = |error: arrow_schema::ArrowError| error.to_string();
    let end = bytes.len().checked_sub(TRAILER).ok_or("it is cut short")?;
    let trailer = bytes[end..].try_into().map_err(|_| "it is cut short")?;
    let start = end.checked_sub(read_footer_length(trailer).map_err(text)?).ok_or("its footer is cut short")?;
    let footer = root_as_footer(&bytes[start..end]).map_err(|error| error.to_string())?;
    let schema = try_fb_to_schema(footer.schema().ok_or("it has no columns")?).map_err(text)?;
    let mut decoder = FileDecoder::new(Arc::new(schema), footer.version());
    for block in footer.dictionaries().iter().flatten() {
        decoder.read_dictionary(block, &part(bytes, block)?).map_err(text)?;
    }
    let blocks = footer.recordBatches();
    let batches =
        blocks.iter().flatten().map(|block| decoder.read_record_batch(block, &part(bytes, block)?).map_err(text));
    batches.filter_map(Result::transpose).collect()
}

/// The bytes of a block.
fn part(bytes: &Buffer, block: &Block) -> Result<Buffer, String> {
    let number = |number: i64| usize::try_from(number).map_err(|_| format!("it declares a length of {number}"));
    let (offset, body) = (number(block.offset())?, number(block.bodyLength())?);
    let metadata = number(i64::from(block.metaDataLength()))?;
    let length =
        metadata.checked_add(body).filter(|length| offset.checked_add(*length).is_some_and(|e| e <= bytes.len()));
    let part = bytes.slice_with_length(offset, length.ok_or("a part lies beyond its end")?);
    refuse_compressed_bomb(&part, metadata)?;
    Ok(part)
}

/// Refuses compressed columns that say they hold much more than their file.
fn refuse_compressed_bomb(part: &[u8], metadata: usize) -> Result<(), String> {
    const MOST_OF_SMALL_FILES: u64 = 1 << 26;
    const MOST_PER_BYTE: u64 = 4096;
    let (message, body) = part.split_at_checked(metadata).ok_or("a part is cut short")?;
    // A message begins with its length, before which newer files have a mark.
    let skipped = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = message.get(skipped..).ok_or("a part is cut short")?;
    let message = root_as_message(message).map_err(|error| error.to_string())?;
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Ok(()) };
    if batch.compression().is_none() {
        return Ok(());
    }
    let buffers = batch.buffers();
    let declared = buffers.iter().flatten().map(|buffer| {
        let at = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let prefix = body.get(at..).and_then(|rest| rest.first_chunk::<8>());
        prefix.map_or(0, |prefix| u64::try_from(i64::from_le_bytes(*prefix)).unwrap_or(0))
    });
    let declared = declared.fold(0_u64, u64::saturating_add);
    if declared > MOST_OF_SMALL_FILES.max(MOST_PER_BYTE.saturating_mul(body.len() as u64)) {
        return Err(format!("a part of {} bytes says that it holds {declared}", body.len()));
    }
    Ok(())
}

/// The fields of a column as text; what is absent is empty.
fn texts(column: &ArrayRef, name: &str) -> Result<Vec<String>, String> {
    macro_rules! numbers {
        ($kind:ty) => {
            column
                .as_primitive::<$kind>()
                .iter()
                .map(|value| value.map_or_else(String::new, |value| value.to_string()))
                .collect()
        };
    }
    let owned = |value: Option<&str>| value.unwrap_or_default().to_owned();
    Ok(match column.data_type() {
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Float32 => numbers!(Float32Type),
        DataType::Float64 => numbers!(Float64Type),
        DataType::Boolean => {
            column.as_boolean().iter().map(|v| v.map_or_else(String::new, |v| v.to_string())).collect()
        }
        DataType::Utf8 => column.as_string::<i32>().iter().map(owned).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(owned).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(owned).collect(),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let values = texts(dictionary.values(), name)?;
            let keys = dictionary.normalized_keys();
            let field = |at: usize| {
                if dictionary.keys().is_null(at) {
                    String::new()
                } else {
                    values.get(keys[at]).cloned().unwrap_or_default()
                }
            };
            (0..column.len()).map(field).collect()
        }
        // Nobody needs times as names or features, and a table may have them beside.
        time if time.is_temporal() => vec![time.to_string(); column.len()],
        DataType::Null => vec![String::new(); column.len()],
        other => return Err(format!("column `{name}` has the type {other}, which is neither text nor a number")),
    })
}
