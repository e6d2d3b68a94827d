//! A digest of what an artifact says, whatever its encoding.

use veilgraph_contract::{Column, Facts};

use crate::table::ArtifactType;

/// Takes in the blocks of an artifact while they are written. Where one block ends and the next begins makes no
/// difference, nor does the encoding of the file.
pub(crate) struct ContentHasher {
    whole: blake3::Hasher,
    columns: Vec<blake3::Hasher>,
}

impl ContentHasher {
    /// A digest keyed with the secret of the store: a plain one of private data can be guessed.
    pub(crate) fn new(artifact: ArtifactType, facts: &Facts, secret: &[u8; 32]) -> Self {
        let mut whole = blake3::Hasher::new_keyed(secret);
        text(&mut whole, artifact.name);
        for (name, value) in &facts.0 {
            text(&mut whole, name);
            text(&mut whole, value);
        }
        let columns = artifact.columns.iter().map(|(name, kind)| {
            let mut column = blake3::Hasher::new_keyed(secret);
            text(&mut column, name);
            text(&mut column, &format!("{kind:?}"));
            column
        });
        Self { whole, columns: columns.collect() }
    }

    pub(crate) fn take(&mut self, block: &[Column]) {
        for (hasher, column) in self.columns.iter_mut().zip(block) {
            match column {
                Column::U8(values) => numbers(hasher, values.iter().map(|value| value.to_le_bytes())),
                Column::U16(values) => numbers(hasher, values.iter().map(|value| value.to_le_bytes())),
                Column::U32(values) => numbers(hasher, values.iter().map(|value| value.to_le_bytes())),
                Column::F32(values) => numbers(hasher, values.iter().map(|value| value.to_le_bytes())),
                Column::F64(values) => numbers(hasher, values.iter().map(|value| value.to_le_bytes())),
                Column::Utf8(values) => values.iter().for_each(|value| text(hasher, value)),
                Column::ListU32(rows) => rows.iter().for_each(|row| {
                    hasher.update(&(row.len() as u64).to_le_bytes());
                    numbers(hasher, row.iter().map(|value| value.to_le_bytes()));
                }),
                Column::ListF32(rows) => rows.iter().for_each(|row| {
                    hasher.update(&(row.len() as u64).to_le_bytes());
                    numbers(hasher, row.iter().map(|value| value.to_le_bytes()));
                }),
            }
        }
    }

    /// The digest as hexadecimal text.
    pub(crate) fn finish(mut self) -> String {
        for column in &self.columns {
            self.whole.update(column.finalize().as_bytes());
        }
        self.whole.finalize().to_hex().to_string()
    }
}

/// A text with its length, so that two texts never run together.
fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}

/// Numbers of one width, some thousands of bytes at a time: the hash function is slow on single numbers.
fn numbers<const WIDTH: usize>(hasher: &mut blake3::Hasher, values: impl Iterator<Item = [u8; WIDTH]>) {
    let mut bytes = Vec::with_capacity(1 << 13);
    for value in values {
        bytes.extend(value);
        if bytes.len() >= 1 << 13 {
            hasher.update(&bytes);
            bytes.clear();
        }
    }
    hasher.update(&bytes);
}
