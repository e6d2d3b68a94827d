//! Pickled values as NumPy and SciPy mean them.

use super::{Object, Value};

/// A matrix in compressed rows as SciPy pickles it.
pub(crate) struct CompressedRows {
    pub n_rows: usize,
    pub n_columns: usize,
    pub offsets: Vec<f64>,
    pub columns: Vec<f64>,
    pub values: Vec<f64>,
}

/// An array with its shape.
pub(crate) struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

impl Value {
    /// The value as a number that can count or index.
    pub(crate) fn index(&self) -> Result<u32, String> {
        match self {
            Self::Int(value) => u32::try_from(*value).map_err(|_| format!("{value} is no index")),
            other => Err(format!("an index was expected, not {}", other.kind())),
        }
    }

    /// The items of a list or tuple.
    pub(crate) fn items(&self) -> Result<Vec<Value>, String> {
        match self {
            Self::List(items) => Ok(items.borrow().clone()),
            Self::Tuple(items) => Ok(items.to_vec()),
            other => Err(format!("a list was expected, not {}", other.kind())),
        }
    }

    /// The entries of a dictionary or a `defaultdict`.
    pub(crate) fn entries(&self) -> Result<Vec<(Value, Value)>, String> {
        match self {
            Self::Dict(entries) => Ok(entries.borrow().clone()),
            Self::Object(object) if object.class == "defaultdict" => Ok(object.items.borrow().clone()),
            other => Err(format!("a dictionary was expected, not {}", other.kind())),
        }
    }

    /// The value as a NumPy array of numbers.
    pub(crate) fn array(&self) -> Result<Array, String> {
        let object = self.object("array")?;
        let state = object.state.borrow().items()?;
        let [_, shape, dtype, fortran, data] = state.as_slice() else {
            return Err("an array without five parts".into());
        };
        if matches!(fortran, Self::Bool(true)) {
            return Err("an array in Fortran order".into());
        }
        let shape =
            shape.items()?.iter().map(|size| size.index().map(|size| size as usize)).collect::<Result<Vec<_>, _>>()?;
        let values = decode(&dtype.element_type()?, data.bytes()?)?;
        let expected = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
        if expected != Some(values.len()) {
            return Err(format!("an array of shape {shape:?} with {} values", values.len()));
        }
        Ok(Array { shape, values })
    }

    /// The value as a SciPy matrix in compressed rows.
    pub(crate) fn compressed_rows(&self) -> Result<CompressedRows, String> {
        let state = self.object("rows")?.state.borrow().entries()?;
        let field = |names: &[&str]| {
            let found = state
                .iter()
                .find(|(key, _)| key.bytes().is_ok_and(|key| names.iter().any(|name| name.as_bytes() == key)));
            found.map(|(_, value)| value).ok_or_else(|| format!("a matrix without `{}`", names[0]))
        };
        let shape = field(&["_shape", "shape"])?.items()?;
        let [n_rows, n_columns] = shape.as_slice() else { return Err("a matrix without two dimensions".into()) };
        Ok(CompressedRows {
            n_rows: n_rows.index()? as usize,
            n_columns: n_columns.index()? as usize,
            offsets: field(&["indptr"])?.array()?.values,
            columns: field(&["indices"])?.array()?.values,
            values: field(&["data"])?.array()?.values,
        })
    }

    fn object(&self, class: &str) -> Result<&Object, String> {
        match self {
            Self::Object(object) if object.class == class => Ok(object),
            other => Err(format!("{class} was expected, not {}", other.kind())),
        }
    }

    fn bytes(&self) -> Result<&[u8], String> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(format!("bytes were expected, not {}", other.kind())),
        }
    }

    /// The type code of a `dtype` object, whose byte order is checked.
    fn element_type(&self) -> Result<String, String> {
        let object = self.object("dtype")?;
        let code = object.arguments.items()?.first().ok_or("a type without name")?.bytes()?.to_vec();
        let state = object.state.borrow().items()?;
        match state.get(1).map(Self::bytes) {
            Some(Ok(b"<" | b"|" | b"=")) => Ok(String::from_utf8_lossy(&code).into_owned()),
            _ => Err("an array that is not little-endian".into()),
        }
    }

    fn kind(&self) -> String {
        match self {
            Self::None => "nothing".into(),
            Self::Bool(_) => "a truth value".into(),
            Self::Int(_) => "a number".into(),
            Self::Bytes(_) => "a string".into(),
            Self::Tuple(_) => "a tuple".into(),
            Self::List(_) => "a list".into(),
            Self::Dict(_) => "a dictionary".into(),
            Self::Global(name) => format!("the name `{name}`"),
            Self::Object(object) => format!("an object `{}`", object.class),
        }
    }
}

fn decode(code: &str, bytes: &[u8]) -> Result<Vec<f64>, String> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f64) -> Result<Vec<f64>, String> {
        let (whole, rest) = bytes.as_chunks::<N>();
        if rest.is_empty() {
            Ok(whole.iter().map(|&bytes| number(bytes)).collect())
        } else {
            Err("an array cut short".into())
        }
    }
    match code {
        "b1" | "u1" => each(bytes, |[byte]: [u8; 1]| byte.into()),
        "i1" => each(bytes, |bytes| i8::from_le_bytes(bytes).into()),
        "i4" => each(bytes, |bytes| i32::from_le_bytes(bytes).into()),
        "i8" => each(bytes, |bytes| i64::from_le_bytes(bytes) as f64),
        "f4" => each(bytes, |bytes| f32::from_le_bytes(bytes).into()),
        "f8" => each(bytes, f64::from_le_bytes),
        other => Err(format!("an array of type `{other}`")),
    }
}
