//! A reader for the few pickles that graph datasets use. It builds values and runs nothing.
//!
//! Six names are known (NumPy arrays and types, SciPy sparse rows, defaultdict); any other name, and
//! any opcode beyond protocol 2's containers, numbers and strings, is an error.

mod arrays;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value of a pickle. Containers are shared, for the pickle's memo may fill them later.
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

/// A pickled value, with all that was built on the way to it.
pub(crate) struct Pickle {
    pub value: Value,
    containers: Vec<Value>,
}

/// Reads one pickled value.
pub(crate) fn parse(bytes: &[u8]) -> Result<Pickle, String> {
    let mut machine =
        Machine { bytes, at: 0, marks: Vec::new(), stack: Vec::new(), memo: BTreeMap::new(), containers: Vec::new() };
    let value = machine.run();
    let containers = std::mem::take(&mut machine.containers);
    // What was built is taken apart even if the value is refused.
    let pickle = Pickle { value: value.clone().unwrap_or(Value::None), containers };
    drop(machine);
    value.map(|_| pickle)
}

impl Drop for Pickle {
    /// Takes containers apart one by one, the youngest first: dropping a value that holds ten thousand
    /// others inside each other would exhaust the stack, and one that holds itself would never be freed.
    fn drop(&mut self) {
        self.value = Value::None;
        for container in &self.containers {
            match container {
                Value::List(items) => items.borrow_mut().clear(),
                Value::Dict(entries) => entries.borrow_mut().clear(),
                Value::Object(object) => {
                    object.state.replace(Value::None);
                    object.items.borrow_mut().clear();
                }
                _ => {}
            }
        }
        while self.containers.pop().is_some() {}
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    marks: Vec<usize>,
    stack: Vec<Value>,
    memo: BTreeMap<u32, Value>,
    /// Every list, dictionary, tuple and object, in the order of their making.
    containers: Vec<Value>,
}

impl Machine<'_> {
    fn run(&mut self) -> Result<Value, String> {
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
            b']' => self.build(Value::List(Rc::default())),
            b'}' => self.build(Value::Dict(Rc::default())),
            b')' => self.stack.push(Value::Tuple(Rc::from([]))),
            b't' => {
                let items = self.pop_marked()?;
                self.build(Value::Tuple(items.into()));
            }
            0x85..=0x87 => {
                let start = self.stack.len().checked_sub(usize::from(opcode - 0x84)).ok_or("the stack is too short")?;
                let items: Rc<[Value]> = self.stack.split_off(start).into();
                self.build(Value::Tuple(items));
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
                self.build(Value::Object(Rc::new(object)));
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

    fn build(&mut self, container: Value) {
        self.containers.push(container.clone());
        self.stack.push(container);
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
