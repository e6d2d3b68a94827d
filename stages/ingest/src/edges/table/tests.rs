use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Encoding;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, types};
use proptest::prelude::*;
use veilgraph_contract::RawFile;

use super::*;

fn read(file: &str, bytes: &[u8], subject: Subject) -> Result<Table, String> {
    let raw = [RawFile { name: file.to_owned(), bytes: bytes.to_vec() }];
    Table::read(&Files(&raw), file, None, subject).map_err(|error| error.to_string())
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

/// The first page of a column is a dictionary of two values; it is made to declare 63.
#[test]
fn a_dictionary_holds_as_many_values_as_it_declares() {
    let mut bytes = parquet_of(&batch());
    let two_values = [0x4c, 0x15, 0x04];
    let at = bytes.windows(3).position(|part| part == two_values).expect("the header of a dictionary");
    bytes[at + 2] = 0x7e;
    let problem = read("e.parquet", &bytes, Subject::Links).err().expect("refused");
    assert!(problem.contains("a dictionary declares 63 values in 13 bytes"), "{problem}");
}

#[test]
fn texts_as_differences_are_refused() {
    for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
        let properties = WriterProperties::builder().set_dictionary_enabled(false);
        let properties = properties.set_column_encoding("target".into(), encoding).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch().schema(), Some(properties)).expect("a writer");
        writer.write(&batch()).expect("written");
        let problem = read("e.parquet", &writer.into_inner().expect("whole"), Subject::Links).err().expect("refused");
        assert!(problem.contains(&format!("its encoding {encoding} is not read")), "{problem}");
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
