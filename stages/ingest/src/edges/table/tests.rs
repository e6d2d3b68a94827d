use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::column::page::Page;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int64Array, ListArray, RecordBatch,
    StringArray, types,
};
use proptest::prelude::*;
use veilgraph_contract::RawFile;

use super::*;

fn read(file: &str, bytes: &[u8], subject: Subject) -> Result<Table, String> {
    let raw = [RawFile { name: file.to_owned(), bytes: bytes.to_vec() }];
    Table::read(&Files(&raw), file, None, subject).map_err(|error| error.to_string())
}

#[test]
fn names_above_numbers_are_those_of_columns() {
    for (first, below, is_header) in [
        ("person,age", "bob,33\ncy,2\n", true),
        ("caller,callee,minutes", "bob,cy,33\ncy,al,2\n", true),
        // A field that is no name, a single row below, and a name of a node that comes again.
        ("al,NA", "bob,33\ncy,2\n", false),
        ("al,?,3", "bob,33,4\ncy,2,5\n", false),
        ("1,root", "2,1\n3,1\n", false),
        ("al,unknown", "bob,33\n", false),
        ("al,bob,x", "bob,cy,33\ncy,al,2\n", false),
    ] {
        let table = read("t.csv", format!("{first}\n{below}").as_bytes(), Subject::Nodes).expect(first);
        assert_eq!(table.header.is_some(), is_header, "{first}");
    }
}

/// Three links with a weight, and one column that pandas would call a category.
fn batch() -> RecordBatch {
    let category: DictionaryArray<types::Int8Type> = [Some("x"), None, Some("y")].into_iter().collect();
    let columns: [(&str, ArrayRef); 4] = [
        ("target", Arc::new(StringArray::from(vec![Some("bob"), Some("cy"), None]))),
        ("source", Arc::new(Int64Array::from(vec![7, -1, 12]))),
        ("weight", Arc::new(Float64Array::from(vec![Some(0.5), Some(2.0), None]))),
        ("kind", Arc::new(category)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).expect("a table")
}

fn parquet_of(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    writer.write(batch).expect("written");
    writer.into_inner().expect("whole")
}

/// The table as a Parquet file with other properties than the default.
fn parquet_with(properties: WriterPropertiesBuilder) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch().schema(), Some(properties.build())).expect("a writer");
    writer.write(&batch()).expect("written");
    writer.into_inner().expect("whole")
}

#[test]
fn pages_of_every_kind_are_read() {
    let with = WriterProperties::builder;
    let expected = read("e.parquet", &parquet_of(&batch()), Subject::Links).expect("default");
    for (name, properties) in [
        ("pages of version 2", with().set_writer_version(WriterVersion::PARQUET_2_0)),
        ("no dictionaries", with().set_dictionary_enabled(false)),
        ("zstd", with().set_compression(Compression::ZSTD(ZstdLevel::default()))),
        ("snappy", with().set_compression(Compression::SNAPPY)),
        ("groups of one row", with().set_max_row_group_row_count(Some(1))),
    ] {
        let table = read("e.parquet", &parquet_with(properties), Subject::Links).expect(name);
        assert_eq!((table.header, table.rows), (expected.header.clone(), expected.rows.clone()), "{name}");
    }
    let columns: [(&str, ArrayRef); 2] = [
        ("source", Arc::new(StringArray::from(vec![""; 3]))),
        ("target", Arc::new(BooleanArray::from(vec![true, false, true]))),
    ];
    let rows = read("e.parquet", &parquet_of(&RecordBatch::try_from_iter(columns).expect("a table")), Subject::Links);
    assert_eq!(rows.expect("empty texts").rows[1].1, ["", "false"]);
}

#[test]
fn a_page_holds_as_many_values_as_it_declares() {
    // The header of a dictionary starts with these bytes, of which the last one is its number of values in Thrift's form, twice two.
    let mut bytes = parquet_of(&batch());
    let at = bytes.windows(3).position(|part| part == [0x4c, 0x15, 2 * 2]).expect("the header of a dictionary");
    bytes[at + 2] = 2 * 63;
    let problem = read("e.parquet", &bytes, Subject::Links).err().expect("refused");
    assert!(problem.contains("the dictionary of column `target` declares 63 values in 13 bytes"), "{problem}");

    let declaring = |num_values: u32| Page::DataPage {
        buf: vec![0; 9].into(),
        num_values,
        encoding: Encoding::PLAIN,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    };
    assert_eq!(parquet::check_page(&declaring(4_000_000), "source", 700), Ok(()));
    let problem = parquet::check_page(&declaring(5_000_000), "source", 700).expect_err("refused");
    assert_eq!(problem, "column `source`: it declares 5000000 rows in 700 bytes");
    assert_eq!(parquet::check_page(&declaring(5_000_000), "source", 1_000_000), Ok(()));
}

#[test]
fn very_long_values_are_refused() {
    let long = FixedSizeBinaryArray::try_from_iter(std::iter::once(vec![b'a'; 70_000])).expect("a value");
    let batch = RecordBatch::try_from_iter([("source", Arc::new(long) as ArrayRef)]).expect("a table");
    let problem = read("e.parquet", &parquet_of(&batch), Subject::Links).err().expect("refused");
    assert!(problem.contains("column `source` has values of 70000 bytes"), "{problem}");
}

#[test]
fn texts_as_differences_are_refused() {
    for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
        let properties = WriterProperties::builder().set_dictionary_enabled(false);
        let bytes = parquet_with(properties.set_column_encoding("target".into(), encoding));
        let problem = read("e.parquet", &bytes, Subject::Links).err().expect("refused");
        assert!(problem.contains(&format!("column `target` is encoded as {encoding}, which is not read")), "{problem}");
    }
}

fn arrow_of(batch: &RecordBatch, compression: Option<arrow_ipc::CompressionType>) -> Vec<u8> {
    let options = arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(compression).expect("options");
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a writer");
    writer.write(batch).expect("written");
    writer.into_inner().expect("whole")
}

#[test]
fn columns_of_every_kind_become_text() {
    let lz4 = Some(arrow_ipc::CompressionType::LZ4_FRAME);
    for (file, bytes) in [
        ("e.parquet", parquet_of(&batch())),
        ("e.arrow", arrow_of(&batch(), None)),
        ("e.feather", arrow_of(&batch(), lz4)),
        ("e.ipc", arrow_of(&batch(), Some(arrow_ipc::CompressionType::ZSTD))),
    ] {
        let table = read(file, &bytes, Subject::Links).expect(file);
        assert_eq!(table.header.as_deref().expect("names"), ["target", "source", "weight", "kind"], "{file}");
        let rows: Vec<Vec<&str>> = table.rows.iter().map(|(_, row)| row.iter().map(String::as_str).collect()).collect();
        assert_eq!(rows[0], ["bob", "7", "0.5", "x"], "{file}");
        assert_eq!(rows[1], ["cy", "-1", "2", ""], "{file}");
        assert_eq!(rows[2], ["", "12", "", "y"], "{file}");
        assert_eq!(table.rows.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2, 3], "{file}");
        assert_eq!(place(file, 3), "row 3: ");
    }
}

#[test]
fn columns_of_lists_and_empty_tables_are_refused() {
    let lists = ListArray::from_iter_primitive::<types::Float32Type, _, _>([Some([Some(1.0), Some(2.0)])]);
    let lists = RecordBatch::try_from_iter([("vector", Arc::new(lists) as ArrayRef)]).expect("a table");
    for (file, bytes) in [("f.parquet", parquet_of(&lists)), ("f.arrow", arrow_of(&lists, None))] {
        let problem = read(file, &bytes, Subject::Nodes).err().expect("refused");
        assert!(problem.starts_with(&format!("{file}: not a table of")) && problem.contains("`vector`"), "{problem}");
    }
    let empty = batch().slice(0, 0);
    for (file, bytes) in [("e.parquet", parquet_of(&empty)), ("e.arrow", arrow_of(&empty, None))] {
        assert_eq!(
            read(file, &bytes, Subject::Links).err(),
            Some(format!("{file}: the table has no row; give at least one"))
        );
    }
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d1" for="edge" attr.name="weight" attr.type="long"/>
  <key id="d0" for="node" attr.name="club" attr.type="string"><default>none</default></key>
  <graph edgedefault="undirected">
    <node id="a &amp; b"><data key="d0">Mr.<!-- his name --> Hi</data></node>
    <node id="cy"/>
    <edge source="a &amp; b" target="cy"><data key="d1">4</data></edge>
    <edge source="cy" target="cy"/>
  </graph>
</graphml>"#;

#[test]
fn graphml_is_a_table_of_nodes_and_one_of_links() {
    let nodes = read("g.graphml", GRAPHML.as_bytes(), Subject::Nodes).expect("nodes");
    assert_eq!(nodes.header.expect("names"), ["node", "club"]);
    let rows: Vec<Vec<String>> = nodes.rows.into_iter().map(|(_, row)| row).collect();
    assert_eq!(rows, [["a & b", "Mr. Hi"], ["cy", "none"]]);
    let links = read("g.graphml", GRAPHML.as_bytes(), Subject::Links).expect("links");
    assert_eq!(links.header.expect("names"), ["source", "target", "weight"]);
    let rows: Vec<Vec<String>> = links.rows.into_iter().map(|(_, row)| row).collect();
    assert_eq!(rows, [["a & b", "cy", "4"], ["cy", "cy", ""]]);
}

#[test]
fn what_is_no_graphml_is_refused() {
    for (text, words) in [
        ("<graphml><graph></graphml>", "not GraphML ("),
        ("<gexf></gexf>", "it begins with <gexf>"),
        ("<graphml></graphml>", "none or several graphs"),
        ("<graphml><graph/><graph/></graphml>", "none or several graphs"),
        ("<graphml><graph><node id=\"1\"><graph/></node></graph></graphml>", "a graph inside a node"),
        ("<graphml><graph><hyperedge/></graph></graphml>", "links of more than two nodes"),
        ("<graphml><graph><edge source=\"1\"/></graph></graphml>", "row 1: <edge> has no `target`"),
        ("source,target\n1,2\n", "not GraphML ("),
    ] {
        let problem = read("g.graphml", text.as_bytes(), Subject::Links).err().expect(text);
        assert!(problem.starts_with("g.graphml: ") && problem.contains(words), "{text}: {problem}");
    }
}

/// Names that promise another format than the bytes hold.
#[test]
fn the_message_says_what_a_file_really_is() {
    for (bytes, words) in [
        (parquet_of(&batch()), "a Parquet file; let its name end in `.parquet`"),
        (arrow_of(&batch(), None), "an Arrow file; let its name end in `.arrow`"),
        (GRAPHML.as_bytes().to_vec(), "GraphML is read where the name of the file ends in `.graphml`"),
    ] {
        let problem = read("e.csv", &bytes, Subject::Links).err().expect("refused");
        assert!(problem.starts_with("e.csv: ") && problem.contains(words), "{problem}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is changed in a file, it is read or refused.
    #[test]
    fn damaged_columns_are_never_a_panic(at in 0_usize..4000, byte in any::<u8>(), cut in 0_usize..4000) {
        for (file, mut bytes) in [("e.parquet", parquet_of(&batch())), ("e.arrow", arrow_of(&batch(), None))] {
            let at = at % bytes.len();
            bytes[at] ^= byte;
            let _ = read(file, &bytes, Subject::Links);
            bytes.truncate(cut % bytes.len());
            let _ = read(file, &bytes, Subject::Links);
        }
    }
}
