//! Artifacts as Parquet files with deterministic bytes.

mod promised;
mod read;
mod write;

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};
use veilgraph_contract::{Artifact, Column, ColumnType, Zone};

pub(crate) use read::Table;
pub use read::{metadata_of, read_table};
pub(crate) use write::write_table;

/// Metadata of our own begin with this; all others are facts of the artifact.
const OURS: &str = "veilgraph.";

/// What the type of an artifact says about its files. Code that needs no more takes this value in place of the type, so
/// that it is compiled once and not for every artifact.
#[derive(Clone, Copy)]
pub(crate) struct ArtifactType {
    pub name: &'static str,
    pub zone: Zone,
    pub columns: &'static [(&'static str, ColumnType)],
    pub is_report: bool,
    pub attachment: Option<&'static str>,
}

impl ArtifactType {
    pub(crate) const fn of<A: Artifact>() -> Self {
        Self { name: A::NAME, zone: A::ZONE, columns: A::COLUMNS, is_report: A::IS_REPORT, attachment: A::ATTACHMENT }
    }

    /// Name of the table's file.
    pub(crate) fn file(self) -> String {
        format!("{}.parquet", self.name)
    }
}

/// Row groups that are encoded or decoded at a time: one per thread, within reason for the memory.
fn row_groups_at_a_time() -> usize {
    rayon::current_num_threads().min(8)
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

fn columns_of(batch: &RecordBatch, types: &[(&str, ColumnType)]) -> Vec<Column> {
    fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<T::Native> {
        array.as_primitive::<T>().values().to_vec()
    }
    fn lists<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<Vec<T::Native>> {
        let list = array.as_list::<i32>();
        (0..list.len()).map(|row| values::<T>(&list.value(row))).collect()
    }
    let columns = types.iter().zip(batch.columns()).map(|(&(_, kind), array)| match kind {
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

#[cfg(test)]
mod tests;
