//! A graph as the files tell it, before it is made canonical.

use std::borrow::Cow;
use std::io::Read;

use veilgraph_contract::RawFile;
use veilgraph_graph::Split;

use crate::error::Error;

/// The number of columns, and the entries `(column, value)` of each row.
pub(crate) type FeatureRows = (usize, Vec<Vec<(u32, f32)>>);

/// A graph as the files tell it.
pub(crate) struct RawGraph {
    /// The name of each node.
    pub names: Vec<String>,
    /// The linked pairs, in any order and with repetitions; `None` where no file of links is given.
    pub pairs: Option<Vec<(u32, u32)>>,
    /// The features of each node, in ascending columns.
    pub features: Option<FeatureRows>,
    /// The number of classes, and the class of each node that has one.
    pub classes: Option<(usize, Vec<Option<u16>>)>,
    /// What the classes are called, in the order of their numbers; empty where the dataset only numbers them.
    pub class_names: Vec<String>,
    /// What the dataset uses each node for, if it says so.
    pub splits: Option<Vec<Split>>,
}

/// The files of a dataset.
pub(crate) struct Files<'a>(pub &'a [RawFile]);

/// A compressed file may not grow beyond this many bytes, more than any graph dataset in use has.
const MAX_DECOMPRESSED: u64 = 4 << 30;

/// The name of a file without what says that it is compressed.
#[must_use]
pub fn decompressed_name(file: &str) -> &str {
    file.strip_suffix(".gz").or_else(|| file.strip_suffix(".zst")).unwrap_or(file)
}

/// What some programs write at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The first bytes of files that are no UTF-8 text, what they are, and what to do.
const NO_TEXT: [(&[u8], &str, &str); 8] = [
    (b"\x1f\x8b", "compressed by gzip", "let its name end in `.gz`"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard", "let its name end in `.zst`"),
    (
        b"PK\x03\x04",
        "a zip archive (such as .xlsx or .npz)",
        "let the name of a sparse matrix end in `.npz`; write a table as CSV",
    ),
    (b"\x93NUMPY", "a NumPy array", "let its name end in `.npy`"),
    (b"PAR1", "a Parquet file", "let its name end in `.parquet`"),
    (b"ARROW1", "an Arrow file", "let its name end in `.arrow`"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
];

impl Files<'_> {
    /// The bytes of the file `name`, decompressed if it ends in `.gz` or `.zst`.
    pub(crate) fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, Error> {
        let file = self.0.iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| Error::new(name, "", "the file was not given", "check the paths in [ingest]"))?;
        let mut bytes = Vec::new();
        let (format, read) = if name.ends_with(".gz") {
            let mut decoder = flate2::read::MultiGzDecoder::new(file.bytes.as_slice()).take(MAX_DECOMPRESSED);
            ("gzip", decoder.read_to_end(&mut bytes))
        } else if name.ends_with(".zst") {
            let decoder = zstd::Decoder::with_buffer(file.bytes.as_slice());
            let read = decoder.and_then(|decoder| decoder.take(MAX_DECOMPRESSED).read_to_end(&mut bytes));
            ("Zstandard", read)
        } else {
            return Ok(Cow::Borrowed(&file.bytes));
        };
        read.map_err(|error| Error::new(name, "", format!("not a {format} file ({error})"), "fetch it again"))?;
        if bytes.len() as u64 == MAX_DECOMPRESSED {
            return Err(Error::new(
                name,
                "",
                "it grows beyond 4 GiB when decompressed",
                "decompress and check it by hand",
            ));
        }
        Ok(Cow::Owned(bytes))
    }

    /// The file `name` as text, without the mark of the order of bytes that some programs write first.
    pub(crate) fn text(&self, name: &str) -> Result<String, Error> {
        let bytes = self.bytes(name)?.into_owned();
        if let Some((_, what, remedy)) = NO_TEXT.iter().find(|(start, ..)| bytes.starts_with(start)) {
            return Err(Error::new(name, "", format!("not text but {what}"), *remedy));
        }
        let mut text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
            Error::new(name, format!("line {line}: "), "not UTF-8 text", "convert the file to UTF-8")
        })?;
        if text.starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len_utf8());
        }
        Ok(text)
    }
}
