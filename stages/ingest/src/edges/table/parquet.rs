//! Parquet files.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::Row;
use crate::error::Error;
use crate::raw::Files;

const REMEDY: &str = "write it again, with columns of text or numbers (Polars: `write_parquet` or `write_ipc`)";

/// The names of the columns and the rows of a Parquet file.
pub(super) fn read(files: &Files, file: &str) -> Result<(Vec<String>, Vec<Row>), Error> {
    let bytes = Bytes::from(files.bytes(file)?.into_owned());
    let n_bytes = bytes.len();
    guarded(file, "Parquet", || {
        let reader = SerializedFileReader::new(bytes).map_err(|error| error.to_string())?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema().clone();
        let columns = schema.get_fields();
        if let Some(nested) = columns.iter().find(|column| !column.is_primitive()) {
            return Err(nested_column(nested.name()));
        }
        let names = columns.iter().map(|column| column.name().to_owned()).collect();
        let n_rows = reader.metadata().file_metadata().num_rows();
        refuse_bomb(usize::try_from(n_rows).unwrap_or(usize::MAX), n_bytes)?;
        check_pages(&reader, n_bytes)?;
        let mut rows = Vec::new();
        for (at, row) in reader.get_row_iter(None).map_err(|error| error.to_string())?.enumerate() {
            refuse_bomb(at, n_bytes)?;
            let row = row.map_err(|error| error.to_string())?;
            let fields: Result<Vec<String>, String> = row.get_column_iter().map(|(_, field)| plain(field)).collect();
            rows.push((at as u64 + 1, fields?));
        }
        Ok((names, rows))
    })
}

/// Refuses pages that declare many more values than the file has bytes, dictionaries that declare more values than they can hold,
/// very long values of a fixed length, and encodings that declare a number of values where only their decoder finds it.
///
/// The decoders reserve memory for what is declared, and a process that asks for too much memory ends without a message.
fn check_pages(reader: &SerializedFileReader<Bytes>, n_bytes: usize) -> Result<(), String> {
    /// A decoder may reserve memory for a thousand values of a fixed length at a time.
    const LONGEST_VALUE: i32 = 1 << 16;
    let text = |error: ParquetError| error.to_string();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(text)?;
        for column in 0..group.num_columns() {
            let descriptor = group.metadata().column(column).column_descr();
            if descriptor.type_length() > LONGEST_VALUE {
                return Err(format!("column `{}` has values of {} bytes", descriptor.name(), descriptor.type_length()));
            }
            let mut pages = group.get_column_page_reader(column).map_err(text)?;
            while let Some(page) = pages.get_next_page().map_err(text)? {
                check_page(&page, descriptor.name(), n_bytes)?;
            }
        }
    }
    Ok(())
}

/// As [`check_pages`], for one page of a column in a file of so many bytes.
pub(super) fn check_page(page: &Page, column: &str, n_bytes: usize) -> Result<(), String> {
    let n_values = page.num_values() as usize;
    refuse_bomb(n_values, n_bytes).map_err(|problem| format!("column `{column}`: {problem}"))?;
    match page {
        // A value of a dictionary takes at least a byte.
        Page::DictionaryPage { buf, .. } if n_values > buf.len() => {
            Err(format!("the dictionary of column `{column}` declares {n_values} values in {} bytes", buf.len()))
        }
        _ if matches!(page.encoding(), Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY) => Err(format!(
            "column `{column}` is encoded as {}, which is not read; write it with the default encoding of Polars or pandas",
            page.encoding()
        )),
        _ => Ok(()),
    }
}

/// The text of a field; what is absent is empty.
fn plain(field: &Field) -> Result<String, String> {
    Ok(match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        // Some programs do not say that their bytes are text.
        Field::Bytes(bytes) => {
            std::str::from_utf8(bytes.data()).map_err(|_| "a column holds bytes that are no text")?.to_owned()
        }
        // As the reader of Arrow files writes them.
        Field::Float(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => other.to_string(),
    })
}

/// Refuses a file of few bytes that declares so many rows that they would fill the memory.
pub(super) fn refuse_bomb(n_rows: usize, n_bytes: usize) -> Result<(), String> {
    const MOST_ROWS_OF_SMALL_FILES: usize = 1 << 22;
    const MOST_ROWS_PER_BYTE: usize = 64;
    if n_rows > MOST_ROWS_OF_SMALL_FILES.max(n_bytes.saturating_mul(MOST_ROWS_PER_BYTE)) {
        return Err(format!("it declares {n_rows} rows in {n_bytes} bytes"));
    }
    Ok(())
}

fn nested_column(name: &str) -> String {
    format!("column `{name}` holds lists or groups")
}

/// What `read` makes of a file. The readers of these formats may panic on damaged bytes, which is no reason to end
/// without a message.
pub(super) fn guarded<T>(file: &str, format: &str, read: impl FnOnce() -> Result<T, String>) -> Result<T, Error> {
    let read = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err("it is damaged".to_owned()));
    let disabled = |problem: &str| problem.contains("Disabled feature");
    let read = read.map_err(|problem| {
        if disabled(&problem) {
            "its compression is not read; write it with `compression=\"zstd\"`".to_owned()
        } else {
            problem
        }
    });
    read.map_err(|problem| Error::new(file, "", format!("not a table of {format} ({problem})"), REMEDY))
}
