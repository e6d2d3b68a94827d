use std::collections::BTreeMap;
use std::io::{Error, Write};

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use veilgraph_contract::{Column, Facts, Invalid, take};

use super::*;

const NUMBERS: ArtifactType = ArtifactType {
    name: "numbers",
    zone: Zone::Server,
    columns: &[("number", ColumnType::U32)],
    is_report: false,
    attachment: None,
};
/// More blocks than are encoded or decoded at a time.
const N_BLOCKS: u32 = 20;

fn block(number: u32) -> Vec<Column> {
    vec![Column::U32((0..50).map(|row| 100 * number + row).collect())]
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn written(blocks: impl Iterator<Item = Vec<Column>>, sink: impl Write + Send) -> Result<(), String> {
    let (facts, mut blocks) = (Facts::default(), blocks);
    write_table(NUMBERS.columns, &facts, &mut blocks, &BTreeMap::new(), sink).map_err(|error| error.to_string())
}

fn file_of(content: &[u8]) -> std::fs::File {
    let mut file = tempfile::tempfile().expect("file");
    file.write_all(content).expect("written");
    file
}

fn first_numbers(table: &Table, rows: std::ops::Range<u32>) -> Result<Vec<u32>, Invalid> {
    table.rows(rows).map(|block| Ok(take::<u32>(&mut block?.into_iter())?[0])).collect()
}

/// The only thread of a pool, several, and a thread outside of any pool write the same bytes and read the blocks in their order.
#[test]
fn many_blocks_come_back_in_their_order() {
    let write = || {
        let mut content = Vec::new();
        written((0..N_BLOCKS).map(block), &mut content).expect("written");
        content
    };
    let content = write();
    let table = Table::open(NUMBERS, file_of(&content)).expect("a table");
    let read = || first_numbers(&table, 0..u32::MAX).expect("valid");
    let expected: Vec<u32> = (0..N_BLOCKS).map(|number| 100 * number).collect();
    assert_eq!(read(), expected);
    for threads in [1, 3] {
        assert_eq!(pool(threads).install(write), content, "{threads} threads");
        assert_eq!(pool(threads).install(read), expected, "{threads} threads");
        let some = || first_numbers(&table, 700..701).expect("valid");
        assert_eq!(pool(threads).install(some), [700], "a single row group");
    }
    // What is left over when a reader stops harms nobody.
    assert_eq!(table.rows(0..u32::MAX).next().expect("a block").expect("valid").len(), 1);
    assert_eq!(read(), expected);
}

/// Takes so many bytes.
struct Full(usize);
impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| Error::other("no room"))?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A block that cannot be encoded is named, and so is what a sink says that takes no more.
#[test]
fn errors_half_way_are_told() {
    let odd = |number| if number == 5 { vec![Column::U32(vec![1]), Column::U32(vec![2])] } else { block(number) };
    for threads in [1, 3] {
        let error = pool(threads).install(|| written((0..N_BLOCKS).map(odd), Vec::new())).expect_err("an odd block");
        assert!(error.contains("block 5"), "{error}");
        let error = pool(threads).install(|| written((0..N_BLOCKS).map(block), Full(900))).expect_err("no room");
        assert!(error.contains("no room"), "{error}");
    }
}

/// Row groups before a damaged one are read, and then the damage is told.
#[test]
fn damage_is_told_after_what_comes_before_it() {
    let mut content = Vec::new();
    written((0..N_BLOCKS).map(block), &mut content).expect("written");
    let metadata = ArrowReaderMetadata::load(&file_of(&content), ArrowReaderOptions::default()).expect("metadata");
    let (start, length) = metadata.metadata().row_group(3).column(0).byte_range();
    content[start as usize..(start + length) as usize].fill(0xff);
    let table = Table::open(NUMBERS, file_of(&content)).expect("the end of the file is whole");
    for threads in [1, 3] {
        let blocks: Vec<bool> = pool(threads).install(|| table.rows(0..u32::MAX).map(|block| block.is_ok()).collect());
        assert_eq!(blocks[..4], [true, true, true, false], "{threads} threads");
    }
}
