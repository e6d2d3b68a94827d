//! A value that one stage hands to another: rows of plain columns, plus facts that no row can say.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use crate::side::Zone;

/// Type of a column, as readers of the Parquet file see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// UTF-8 text.
    Utf8,
    /// List of unsigned 32-bit integers.
    ListU32,
    /// List of single-precision numbers.
    ListF32,
}

/// The values of one column in one block of rows.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is the type of the same name in `ColumnType`")]
pub enum Column {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Utf8(Vec<String>),
    ListU32(Vec<Vec<u32>>),
    ListF32(Vec<Vec<f32>>),
}

/// What a table says beside its rows: number of nodes, budget, variant. Sorted, hence deterministic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(pub BTreeMap<String, String>);

/// Why a table is not a valid artifact.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

/// A value with a public columnar form.
///
/// `blocks` and `from_blocks` are inverse to each other. A block becomes one row group, so a large
/// value is written and read block by block.
pub trait Artifact: Sized + Send + Sync + 'static {
    /// Name of the file, without ending.
    const NAME: &'static str;
    /// Name of the same content when it is held out for scoring.
    const HELD_OUT_NAME: &'static str = "held_out";
    /// Who may see it.
    const ZONE: Zone;
    /// Names and types of the columns; a public contract.
    const COLUMNS: &'static [(&'static str, ColumnType)];
    /// Whether it tells of protected data: it can be written only by a stage function that releases something.
    const IS_REPORT: bool = false;
    /// Name of a file beside the table that holds what is no table (weights of a network).
    const ATTACHMENT: Option<&'static str> = None;
    /// Whether tasks of one process that read the same file at the same time share one value, because it is large.
    const IS_SHARED: bool = false;

    /// What the rows cannot say.
    fn facts(&self) -> Facts;
    /// The rows, in blocks whose columns follow `COLUMNS`.
    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_>;
    /// Rebuilds the value.
    ///
    /// # Errors
    /// When the rows or facts break an invariant of the type; the message names the row.
    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid>;
    /// Rebuilds the value from its rows and the file beside them.
    ///
    /// An artifact whose values stand in the attachment overrides this; its `from_blocks` is then an error.
    ///
    /// # Errors
    /// Those of `from_blocks`, or an attachment that is absent or broken.
    fn from_parts(
        facts: &Facts,
        blocks: &mut dyn Iterator<Item = Vec<Column>>,
        _attachment: Option<&[u8]>,
    ) -> Result<Self, Invalid> {
        Self::from_blocks(facts, blocks)
    }
    /// Bytes, about, that the value takes in memory. `stored` are those of the values in its table and in the file beside the
    /// table, or 0 where nothing is written yet, so that only the facts can tell.
    ///
    /// # Errors
    /// When a fact is absent or unreadable.
    fn footprint(_facts: &Facts, stored: u64) -> Result<u64, Invalid> {
        Ok(stored)
    }
    /// What all readers of a file hold together, where [`Self::IS_SHARED`] is set. It lives as long as one of them holds the
    /// value.
    fn shared(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }
    /// The value around what [`Self::shared`] returned.
    #[must_use]
    fn from_shared(_: Arc<dyn Any + Send + Sync>) -> Option<Self> {
        None
    }
    /// The file beside the table, called [`Self::ATTACHMENT`].
    fn attachment(&self) -> Option<Vec<u8>> {
        None
    }
}

impl Facts {
    /// The same facts with one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        self.0.insert(name.to_owned(), value.to_string());
        self
    }

    /// The fact `name`, parsed.
    ///
    /// # Errors
    /// When it is absent or does not parse.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, Invalid> {
        let text = self.0.get(name).ok_or_else(|| Invalid(format!("fact `{name}` is absent")))?;
        text.parse().map_err(|_| Invalid(format!("fact `{name}` has the unreadable value `{text}`")))
    }
}

impl Column {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Utf8(values) => values.len(),
            Self::ListU32(values) => values.len(),
            Self::ListF32(values) => values.len(),
        }
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the values of another column of the same type.
    ///
    /// # Errors
    /// When the types differ.
    pub fn append(&mut self, other: Self) -> Result<(), Invalid> {
        match (self, other) {
            (Self::U8(values), Self::U8(more)) => values.extend(more),
            (Self::U16(values), Self::U16(more)) => values.extend(more),
            (Self::U32(values), Self::U32(more)) => values.extend(more),
            (Self::F32(values), Self::F32(more)) => values.extend(more),
            (Self::F64(values), Self::F64(more)) => values.extend(more),
            (Self::Utf8(values), Self::Utf8(more)) => values.extend(more),
            (Self::ListU32(values), Self::ListU32(more)) => values.extend(more),
            (Self::ListF32(values), Self::ListF32(more)) => values.extend(more),
            _ => return Err(Invalid("a column has the wrong type".to_owned())),
        }
        Ok(())
    }

    /// The values at these positions alone.
    pub(crate) fn among(self, positions: Range<usize>) -> Self {
        fn cut<T>(mut values: Vec<T>, positions: Range<usize>) -> Vec<T> {
            values.truncate(positions.end);
            values.drain(..positions.start);
            values
        }
        match self {
            Self::U8(values) => Self::U8(cut(values, positions)),
            Self::U16(values) => Self::U16(cut(values, positions)),
            Self::U32(values) => Self::U32(cut(values, positions)),
            Self::F32(values) => Self::F32(cut(values, positions)),
            Self::F64(values) => Self::F64(cut(values, positions)),
            Self::Utf8(values) => Self::Utf8(cut(values, positions)),
            Self::ListU32(values) => Self::ListU32(cut(values, positions)),
            Self::ListF32(values) => Self::ListF32(cut(values, positions)),
        }
    }
}

/// A Rust type that a [`Column`] can hold.
pub trait Value: Sized {
    /// The values, if the column has this type.
    fn unwrap_column(column: Column) -> Option<Vec<Self>>;
}

macro_rules! value {
    ($($rust:ty => $variant:ident),*) => {$(
        impl Value for $rust {
            fn unwrap_column(column: Column) -> Option<Vec<Self>> {
                match column { Column::$variant(values) => Some(values), _ => None }
            }
        }
    )*};
}
value!(u8 => U8, u16 => U16, u32 => U32, f32 => F32, f64 => F64, String => Utf8, Vec<u32> => ListU32, Vec<f32> => ListF32);

/// Takes the next column of a block, which must hold values of type `T`.
///
/// # Errors
/// When there is no further column or it has another type.
pub fn take<T: Value>(columns: &mut impl Iterator<Item = Column>) -> Result<Vec<T>, Invalid> {
    let column = columns.next().ok_or_else(|| Invalid("a column is missing".to_owned()))?;
    T::unwrap_column(column).ok_or_else(|| Invalid("a column has the wrong type".to_owned()))
}
