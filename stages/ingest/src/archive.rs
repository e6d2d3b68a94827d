//! NumPy arrays, alone or in an archive (`.npz`).

use std::io::{Cursor, Read};

use npyz::npz::{array_name_from_file_name, file_name_from_array_name};
use npyz::{DType, NpyFile, Order};
use zip::ZipArchive;
use zip::result::ZipError;

/// An array of more bytes is refused; no graph dataset in use has one.
const MAX_ARRAY: u64 = 4 << 30;

/// A header of more bytes is refused; those of arrays that are read have some hundred.
const LONGEST_HEADER: usize = 1 << 16;

/// The longest header with what stands before it: the mark, the version and the length.
const LONGEST_START: usize = LONGEST_HEADER + 12;

/// The shape of an array, and its texts.
pub(crate) type Texts = (Vec<usize>, Vec<String>);

/// Arrays by their keys. Arrays of pickled objects are never touched.
pub(crate) struct Archive<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Archive<'a> {
    /// Opens an archive.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, String> {
        ZipArchive::new(Cursor::new(bytes)).map(Self).map_err(|error| error.to_string())
    }

    /// The keys of all arrays.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.file_names().filter_map(array_name_from_file_name).map(str::to_owned).collect()
    }

    /// Reads an array of numbers as double precision.
    pub(crate) fn numbers(&mut self, key: &str) -> Result<Vec<f64>, String> {
        numbers(self.array(key)?.ok_or("it is missing")?)
    }

    /// Reads a text, such as the name of a form; none where there is no such text.
    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        // A word has few letters; no more are read.
        const LONGEST: u64 = 64;
        let array = self.array(key).ok()??;
        let DType::Plain(kind) = array.dtype() else { return None };
        if array.shape().iter().product::<u64>() != 1 || kind.size_field() > LONGEST {
            return None;
        }
        if kind.to_string().contains('U') {
            array.into_vec::<String>().ok()?.pop()
        } else {
            String::from_utf8(array.into_vec::<Vec<u8>>().ok()?.pop()?).ok()
        }
    }

    /// Reads an array of texts; none where there is no such array, or where it holds something else.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, String> {
        let member = match self.0.by_name(&file_name_from_array_name(key)) {
            Ok(member) => member,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let mut bytes = Vec::new();
        member.take(MAX_ARRAY).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(plain_texts(&bytes)?.map(|(_, texts)| texts))
    }

    /// Opens an array, if there is one.
    fn array(&mut self, key: &str) -> Result<Option<NpyFile<impl Read + '_>>, String> {
        let mut member = match self.0.by_name(&file_name_from_array_name(key)) {
            Ok(member) => member,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let mut start = Vec::new();
        let read = member.by_ref().take(LONGEST_START as u64).read_to_end(&mut start);
        read.map_err(|error| error.to_string())?;
        check_header(&start)?;
        NpyFile::new(Cursor::new(start).chain(member)).map(Some).map_err(|error| error.to_string())
    }
}

/// Refuses an array by its header:
/// - a header longer than [`LONGEST_HEADER`], because the reader would take as much memory as the header asks for;
/// - many brackets, because the time that the reader takes doubles with each level of them;
/// - sums, and more entries than 64 bits count, because the reader adds and multiplies without a check for overflow.
fn check_header(start: &[u8]) -> Result<(), String> {
    /// A header has one pair around its entries and one around the shape; a list of fields has more.
    const MOST_OPENED: usize = 64;
    const DEEPEST: usize = 6;
    /// A message has so many bytes of a word that is no number.
    const MOST_SHOWN: usize = 64;
    // Mark and version, then the length of the header in two bytes or, from version 2 on, in four.
    let (length, header) = match start {
        [_, _, _, _, _, _, 1, _, a, b, header @ ..] => (u32::from(u16::from_le_bytes([*a, *b])), header),
        [_, _, _, _, _, _, _, _, a, b, c, d, header @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]), header),
        // The reader says what is wrong with so few bytes.
        _ => return Ok(()),
    };
    if length as usize > LONGEST_HEADER {
        return Err(format!("the header of an array declares {length} bytes"));
    }
    let header = &header[..header.len().min(length as usize)];
    // Brackets count wherever they stand, also in texts: no array that is read has such texts.
    let (mut depth, mut deepest, mut opened) = (0_usize, 0, 0);
    for byte in header {
        match byte {
            b'{' | b'[' | b'(' => (depth, opened) = (depth + 1, opened + 1),
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            // The reader works out sums; NumPy writes none.
            b'+' | b'-' => return Err("the header of an array has a sum where a size is expected".into()),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > DEEPEST || opened > MOST_OPENED {
        return Err("the header of an array is no list of its properties".into());
    }
    // Every word that starts with a digit counts as a size, also in a name: no array that is read has such names. A size of 0
    // counts as 1, because the reader multiplies from either end, and what comes before the 0 may overflow.
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let words = header.split(|byte| !is_in_word(byte)).filter(|word| word.first().is_some_and(u8::is_ascii_digit));
    let mut declared = 1_u64;
    for word in words {
        let size = str::from_utf8(word).ok().and_then(|word| word.parse::<u64>().ok());
        let size = size.ok_or_else(|| {
            let shown = word[..word.len().min(MOST_SHOWN)].escape_ascii();
            format!("the header of an array has `{shown}` where a decimal number is expected")
        })?;
        let product = declared.checked_mul(size.max(1));
        declared = product.ok_or("the sizes in the header of an array multiply to more than 64 bits hold")?;
    }
    Ok(())
}

/// Reads an array that stands alone: its shape, and its numbers row by row.
pub(crate) fn plain_array(bytes: &[u8]) -> Result<(Vec<usize>, Vec<f64>), String> {
    check_header(bytes)?;
    let array = NpyFile::new(bytes).map_err(|error| error.to_string())?;
    let shape: Vec<usize> = array.shape().iter().map(|&size| size as usize).collect();
    let is_by_column = array.order() != Order::C;
    let numbers = numbers(array)?;
    match shape[..] {
        [n_rows, n_columns] if is_by_column => {
            let by_row = (0..n_rows).flat_map(|row| (0..n_columns).map(move |column| column * n_rows + row));
            Ok((shape, by_row.map(|at| numbers[at]).collect()))
        }
        _ => Ok((shape, numbers)),
    }
}

/// Reads an array of texts that stands alone; none where it holds something else.
pub(crate) fn plain_texts(bytes: &[u8]) -> Result<Option<Texts>, String> {
    check_header(bytes)?;
    let array = NpyFile::new(bytes).map_err(|error| error.to_string())?;
    let DType::Plain(kind) = array.dtype() else { return Ok(None) };
    if !kind.to_string().contains(['U', 'S']) {
        return Ok(None);
    }
    // Texts without a letter would take no bytes, however many the header declares.
    let letters = array.shape().iter().try_fold(kind.size_field(), |letters, &size| letters.checked_mul(size));
    if kind.size_field() == 0 || letters.is_none_or(|letters| letters > bytes.len() as u64) {
        return Err(format!("it declares the shape {:?} of texts", array.shape()));
    }
    let shape = array.shape().iter().map(|&size| size as usize).collect();
    let texts = array.into_vec::<String>().map_err(|error| error.to_string())?;
    Ok(Some((shape, texts)))
}

/// The numbers of an array.
fn numbers<R: Read>(array: NpyFile<R>) -> Result<Vec<f64>, String> {
    let DType::Plain(kind) = array.dtype() else { return Err("it is a record array".into()) };
    let declared = array.shape().iter().try_fold(8_u64, |bytes, &size| bytes.checked_mul(size));
    if declared.is_none_or(|bytes| bytes > MAX_ARRAY) {
        return Err(format!("it declares the shape {:?}", array.shape()));
    }
    macro_rules! read {
        ($number:ty) => {
            array.into_vec::<$number>().map(|values| values.into_iter().map(f64::from).collect())
        };
    }
    let read: std::io::Result<Vec<f64>> = match kind.to_string().trim_start_matches(['<', '|', '=']) {
        "b1" => read!(bool),
        "i1" => read!(i8),
        "i2" => read!(i16),
        "i4" => read!(i32),
        "i8" => array.into_vec::<i64>().map(|values| values.into_iter().map(|value| value as f64).collect()),
        "u1" => read!(u8),
        "u2" => read!(u16),
        "u4" => read!(u32),
        "u8" => array.into_vec::<u64>().map(|values| values.into_iter().map(|value| value as f64).collect()),
        "f2" => halves(array),
        "f4" => read!(f32),
        "f8" => read!(f64),
        other => {
            return Err(format!(
                "its type `{other}` is not read; convert it, for example with `array.astype(\"float32\")`"
            ));
        }
    };
    read.map_err(|error| error.to_string())
}

/// The numbers of an array of half precision (IEEE 754 binary16), which the reader does not know.
fn halves<R: Read>(array: NpyFile<R>) -> std::io::Result<Vec<f64>> {
    let wanted = 2 * array.len();
    let mut bytes = Vec::new();
    array.into_inner().take(wanted).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != wanted {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes.chunks_exact(2).map(|pair| half(u16::from_le_bytes([pair[0], pair[1]]))).collect())
}

fn half(bits: u16) -> f64 {
    /// Two to the power of -24: the smallest number above 0.
    const SMALLEST: f64 = 1.0 / 16_777_216.0;
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = ((bits >> 10) & 0x1f, bits & 0x3ff);
    match (exponent, fraction) {
        (0, _) => sign * f64::from(fraction) * SMALLEST,
        (0x1f, 0) => sign * f64::INFINITY,
        (0x1f, _) => f64::NAN,
        _ => sign * f64::from(1024 + u32::from(fraction)) * f64::from(1_u32 << (exponent - 1)) * SMALLEST,
    }
}

#[cfg(test)]
mod tests;
