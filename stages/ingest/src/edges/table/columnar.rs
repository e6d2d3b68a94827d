//! Tables as columns: Parquet files, and Arrow files (which are also called Feather or IPC).

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::Row;
use crate::error::Error;
use crate::raw::Files;

const REMEDY: &str = "write it again, with columns of text or numbers (Polars: `write_parquet` or `write_ipc`)";

/// The names of the columns and the rows of a Parquet file.
pub(super) fn parquet(files: &Files, file: &str) -> Result<(Vec<String>, Vec<Row>), Error> {
    let bytes = Bytes::from(files.bytes(file)?.into_owned());
    guarded(file, "Parquet", || {
        let reader = SerializedFileReader::new(bytes).map_err(|error| error.to_string())?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema().clone();
        let columns = schema.get_fields();
        if let Some(nested) = columns.iter().find(|column| !column.is_primitive()) {
            return Err(nested_column(nested.name()));
        }
        let names = columns.iter().map(|column| column.name().to_owned()).collect();
        let mut rows = Vec::new();
        for (at, row) in reader.get_row_iter(None).map_err(|error| error.to_string())?.enumerate() {
            let row = row.map_err(|error| error.to_string())?;
            rows.push((at as u64 + 1, row.get_column_iter().map(|(_, field)| plain(field)).collect()));
        }
        Ok((names, rows))
    })
}

/// The text of a field; what is absent is empty.
fn plain(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The names of the columns and the rows of an Arrow file.
pub(super) fn arrow(files: &Files, file: &str) -> Result<(Vec<String>, Vec<Row>), Error> {
    let bytes = files.bytes(file)?;
    guarded(file, "Arrow", || {
        let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(bytes.as_ref()), None);
        let reader = reader.map_err(|error| error.to_string())?;
        let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let mut rows: Vec<Row> = Vec::new();
        for batch in reader {
            let batch = batch.map_err(|error| error.to_string())?;
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
        DataType::Null => vec![String::new(); column.len()],
        other => return Err(format!("column `{name}` has the type {other}, which is neither text nor a number")),
    })
}

fn nested_column(name: &str) -> String {
    format!("column `{name}` holds lists or groups")
}

/// What `read` makes of a file. The readers of these formats may panic on damaged bytes, which is no reason to end
/// without a message.
fn guarded<T>(file: &str, format: &str, read: impl FnOnce() -> Result<T, String>) -> Result<T, Error> {
    let read = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err("it is damaged".to_owned()));
    read.map_err(|problem| Error::new(file, "", format!("not a table of {format} ({problem})"), REMEDY))
}
