//! Parquet files as Polars frames.
//!
//! Polars' own scan of Parquet files belongs to its streaming engine, which brings a client of cloud storage along: an HTTP
//! stack, TLS and an asynchronous runtime, several minutes of every first build (docs/benchmarks/build.md). A reader of local
//! files that takes part in the planning of a query needs none of them.

use std::any::Any;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{
    AnonymousScan, AnonymousScanArgs, DataFrame, LazyFrame, PolarsResult, ScanArgsAnonymous, Schema, SchemaExt,
    SchemaRef,
};
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;

/// Returns a frame over the rows of a Parquet file. Of the file are read only the columns that a query needs and, where the
/// query wants the first rows alone, those rows.
///
/// # Errors
/// Fails when the file cannot be read as Parquet.
pub(crate) fn scan_parquet(path: &Path) -> PolarsResult<LazyFrame> {
    let file = ParquetFile(path.to_owned());
    LazyFrame::anonymous_scan(Arc::new(file), ScanArgsAnonymous { name: "PARQUET", ..ScanArgsAnonymous::default() })
}

/// A Parquet file on this machine.
struct ParquetFile(PathBuf);

impl ParquetFile {
    fn reader(&self) -> PolarsResult<ParquetReader<File>> {
        Ok(ParquetReader::new(File::open(&self.0)?))
    }
}

impl AnonymousScan for ParquetFile {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn allows_projection_pushdown(&self) -> bool {
        true
    }

    fn scan(&self, wanted: AnonymousScanArgs) -> PolarsResult<DataFrame> {
        let columns = wanted.with_columns.map(|names| names.iter().map(ToString::to_string).collect());
        let rows = wanted.n_rows.map(|rows| (0, rows));
        self.reader()?.with_columns(columns).with_slice(rows).finish()
    }

    fn schema(&self, _: Option<usize>) -> PolarsResult<SchemaRef> {
        let schema = self.reader()?.schema()?;
        Ok(Arc::new(Schema::from_arrow_schema(schema.as_ref())))
    }
}
