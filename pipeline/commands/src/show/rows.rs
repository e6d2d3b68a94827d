//! Rows of a frame as text, for people and for programs.

use anyhow::Context;
use polars::prelude::{AnyValue, Column, DataFrame};
use serde_json::{Map, Value};
use veilgraph_runner::output;

use crate::cli::ShowFormat;

/// Prints all rows.
pub(super) fn print(frame: &DataFrame, format: ShowFormat) -> anyhow::Result<()> {
    match format {
        ShowFormat::Table => table(frame)?,
        ShowFormat::Csv => output::data(csv(frame)?.trim_end()),
        ShowFormat::Json => {
            for row in 0..frame.height() {
                let object: Map<String, Value> = cells(frame, row)?.into_iter().collect();
                output::data(&serde_json::to_string(&object)?);
            }
        }
    }
    Ok(())
}

/// A table for people. Polars leaves out columns in the middle of a wide frame, so a wide one is printed in parts.
fn table(frame: &DataFrame) -> anyhow::Result<()> {
    const AT_ONCE: usize = 8;
    let columns = frame.get_column_names();
    let names: Vec<&str> = columns.iter().map(|name| name.as_str()).collect();
    if names.len() <= AT_ONCE {
        output::line(&frame.to_string());
        return Ok(());
    }
    for part in names.chunks(AT_ONCE) {
        output::line(&frame.select(part.iter().copied())?.to_string());
    }
    Ok(())
}

/// Comma-separated values with a header; an empty field where there is no value, and lists as JSON.
fn csv(frame: &DataFrame) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(frame.get_column_names().iter().map(|name| name.as_str()))?;
    for row in 0..frame.height() {
        let text = |(_, value): (String, Value)| match value {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        writer.write_record(cells(frame, row)?.into_iter().map(text))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A row, each value with the name of its column.
fn cells(frame: &DataFrame, row: usize) -> anyhow::Result<Vec<(String, Value)>> {
    let cell = |column: &Column| {
        let value = column.get(row).with_context(|| format!("{}: row {row} cannot be read", column.name()))?;
        Ok((column.name().to_string(), json(&value)))
    };
    frame.columns().iter().map(cell).collect()
}

/// A value as JSON, which has no infinite numbers: they are texts, as in configs.
fn json(value: &AnyValue) -> Value {
    match value {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(value) => Value::Bool(*value),
        AnyValue::List(values) => values.iter().map(|value| json(&value)).collect(),
        value if value.is_unsigned_integer() => value.extract::<u64>().map_or(Value::Null, Value::from),
        value if value.is_signed_integer() => value.extract::<i64>().map_or(Value::Null, Value::from),
        AnyValue::Float32(value) if value.is_finite() => value.to_string().parse().unwrap_or(Value::Null),
        AnyValue::Float64(value) if value.is_finite() => Value::from(*value),
        value => {
            value.get_str().map_or_else(|| Value::String(value.to_string()), |text| Value::String(text.to_owned()))
        }
    }
}
