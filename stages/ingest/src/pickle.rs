//! A reader for the few pickles that graph datasets use. It builds values and runs nothing.
//!
//! Six names are known (`NumPy` arrays and types, `SciPy` sparse rows, defaultdict); any other name, and
//! any opcode beyond protocol 2's containers, numbers and strings, is an error.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value of a pickle. Containers are shared: the pickle's memo may fill them later.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Bytes(Rc<[u8]>),
    Tuple(Rc<[Value]>),
    List(Rc<RefCell<Vec<Value>>>),
    Dict(Rc<RefCell<Vec<(Value, Value)>>>),
    Global(&'static str),
    Object(Rc<Object>),
}

/// The result of calling a known name.
#[derive(Debug)]
pub(crate) struct Object {
    pub class: &'static str,
    pub arguments: Value,
    pub state: RefCell<Value>,
    pub items: RefCell<Vec<(Value, Value)>>,
}

/// A matrix in compressed rows as `SciPy` pickles it.
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

const NAMES: [(&str, &str, &str); 10] = [
    ("collections", "defaultdict", "defaultdict"),
    ("__builtin__", "list", "list"),
    ("builtins", "list", "list"),
    ("numpy", "dtype", "dtype"),
    ("numpy", "ndarray", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct", "array"),
    ("numpy._core.multiarray", "_reconstruct", "array"),
    ("scipy.sparse.csr", "csr_matrix", "rows"),
    ("scipy.sparse._csr", "csr_matrix", "rows"),
    ("numpy.core.numeric", "_frombuffer", "buffer"),
];

/// Reads one pickled value.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    Machine { bytes, at: 0, stack: Vec::new(), marks: Vec::new(), memo: BTreeMap::new() }.run()
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: BTreeMap<u32, Value>,
}

impl Machine<'_> {
    fn run(mut self) -> Result<Value, String> {
        loop {
            let position = self.at;
            let opcode = self.take(1)?[0];
            if opcode == b'.' {
                return self.pop();
            }
            self.step(opcode).map_err(|problem| format!("byte {position}: {problem}"))?;
        }
    }

    fn step(&mut self, opcode: u8) -> Result<(), String> {
        match opcode {
            0x80 => {
                let protocol = self.take(1)?[0];
                if protocol > 2 {
                    return Err(format!("pickle protocol {protocol}; only protocols up to 2 are read"));
                }
            }
            b'(' => self.marks.push(self.stack.len()),
            b'N' => self.stack.push(Value::None),
            0x88 => self.stack.push(Value::Bool(true)),
            0x89 => self.stack.push(Value::Bool(false)),
            b'K' => {
                let value = self.unsigned(1)?;
                self.stack.push(Value::Int(value.into()));
            }
            b'M' => {
                let value = self.unsigned(2)?;
                self.stack.push(Value::Int(value.into()));
            }
            b'J' => {
                let value = self.unsigned(4)?;
                self.stack.push(Value::Int(value.cast_signed().into()));
            }
            b'U' => self.string(1)?,
            b'T' | b'X' => self.string(4)?,
            b']' => self.stack.push(Value::List(Rc::default())),
            b'}' => self.stack.push(Value::Dict(Rc::default())),
            b')' => self.stack.push(Value::Tuple(Rc::from([]))),
            b't' => {
                let items = self.pop_marked()?;
                self.stack.push(Value::Tuple(items.into()));
            }
            0x85..=0x87 => {
                let start = self.stack.len().checked_sub(usize::from(opcode - 0x84)).ok_or("the stack is too short")?;
                let items: Rc<[Value]> = self.stack.split_off(start).into();
                self.stack.push(Value::Tuple(items));
            }
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' => {
                let items = self.pop_marked()?;
                self.append(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(vec![key, value])?;
            }
            b'u' => {
                let items = self.pop_marked()?;
                self.set_items(items)?;
            }
            b'c' => self.global()?,
            b'R' | 0x81 => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                let Value::Global(class) = callee else {
                    return Err("a call of something that is no known name".into());
                };
                let object = Object { class, arguments, state: RefCell::new(Value::None), items: RefCell::default() };
                self.stack.push(Value::Object(Rc::new(object)));
            }
            b'b' => {
                let state = self.pop()?;
                let Some(Value::Object(object)) = self.stack.last() else {
                    return Err("a state without an object".into());
                };
                object.state.replace(state);
            }
            b'q' => self.remember(1)?,
            b'r' => self.remember(4)?,
            b'h' => self.recall(1)?,
            b'j' => self.recall(4)?,
            other => return Err(format!("opcode 0x{other:02x} is not among those that graph datasets use")),
        }
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<&[u8], String> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("byte {}: the file ends too early", self.at))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn unsigned(&mut self, width: usize) -> Result<u32, String> {
        Ok(self.take(width)?.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }

    fn string(&mut self, width: usize) -> Result<(), String> {
        let length = self.unsigned(width)? as usize;
        let bytes: Rc<[u8]> = self.take(length)?.into();
        self.stack.push(Value::Bytes(bytes));
        Ok(())
    }

    fn line(&mut self) -> Result<String, String> {
        let length = self.bytes[self.at..].iter().position(|&byte| byte == b'\n').ok_or("a name without end")?;
        let line = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.at += 1;
        Ok(line)
    }

    fn global(&mut self) -> Result<(), String> {
        let (module, name) = (self.line()?, self.line()?);
        let known = NAMES.iter().find(|known| known.0 == module && known.1 == name);
        let known = known.ok_or_else(|| format!("it asks for `{module}.{name}`, which is refused"))?;
        self.stack.push(Value::Global(known.2));
        Ok(())
    }

    fn pop(&mut self) -> Result<Value, String> {
        self.stack.pop().ok_or_else(|| "the stack is empty".to_owned())
    }

    fn pop_marked(&mut self) -> Result<Vec<Value>, String> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or("a mark is missing")?;
        Ok(self.stack.split_off(mark))
    }

    fn append(&mut self, items: Vec<Value>) -> Result<(), String> {
        let Some(Value::List(list)) = self.stack.last() else { return Err("items without a list".into()) };
        list.borrow_mut().extend(items);
        Ok(())
    }

    fn set_items(&mut self, items: Vec<Value>) -> Result<(), String> {
        let mut items = items.into_iter();
        let pairs = std::iter::from_fn(|| Some((items.next()?, items.next()?)));
        match self.stack.last() {
            Some(Value::Dict(dict)) => dict.borrow_mut().extend(pairs),
            Some(Value::Object(object)) => object.items.borrow_mut().extend(pairs),
            _ => return Err("entries without a dictionary".into()),
        }
        Ok(())
    }

    fn remember(&mut self, width: usize) -> Result<(), String> {
        let index = self.unsigned(width)?;
        let value = self.stack.last().ok_or("the stack is empty")?.clone();
        self.memo.insert(index, value);
        Ok(())
    }

    fn recall(&mut self, width: usize) -> Result<(), String> {
        let index = self.unsigned(width)?;
        let value = self.memo.get(&index).ok_or_else(|| format!("entry {index} of the memo is missing"))?.clone();
        self.stack.push(value);
        Ok(())
    }
}

impl Value {
    /// A number that can count or index.
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

    /// The entries of a dictionary (of a `defaultdict`, too).
    pub(crate) fn entries(&self) -> Result<Vec<(Value, Value)>, String> {
        match self {
            Self::Dict(entries) => Ok(entries.borrow().clone()),
            Self::Object(object) if object.class == "defaultdict" => Ok(object.items.borrow().clone()),
            other => Err(format!("a dictionary was expected, not {}", other.kind())),
        }
    }

    /// A `NumPy` array of numbers.
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

    /// A `SciPy` matrix in compressed rows.
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

    /// Type code of a `dtype` object, with its byte order checked.
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
