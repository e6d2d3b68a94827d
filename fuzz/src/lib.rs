//! What the fuzz targets feed. Every parser must answer any bytes with a value or an error: no panic, no hang, no
//! more than a gibibyte. Parquet may take more memory and time (docs/decisions.md, counts of a Parquet file).

use veilgraph_client::PublicParameters;
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Progress, RawFile, Stage, StageRng};
use veilgraph_graph::{
    AdjacencyList, ClassBeliefs, Curves, Features, Labels, NodeMap, Nodes, Predictions, WeightedGraph,
};
use veilgraph_ingest::{Format, Ingest, Params, ReadReleased, ReleasedParams};
use veilgraph_posterior::{LinkEvidence, LinkModel, SimilarPairs};
use veilgraph_privacy::{Groups, NoisyCounts, NoisyDegrees, NoisyEntries, NoisyLinks};
use veilgraph_privatize::LocalMechanism;
use veilgraph_privatize::links::blink::Blink;
use veilgraph_privatize::links::dprr::Dprr;
use veilgraph_privatize::links::l_dpgcn::LDpGcn;
use veilgraph_privatize::links::ldpgen::LdpGen;
use veilgraph_privatize::links::rr::Rr;
use veilgraph_privatize::links::symrr::SymRr;

/// Separates the files of one input.
const MARKER: &[u8] = b"\xf0\x9f\xa6\x86";

/// Files of an input, by name; missing ones are empty.
fn files(data: &[u8], names: &[&str]) -> Vec<RawFile> {
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(MARKER.len()).position(|window| window == MARKER) {
        parts.push(rest[..at].to_vec());
        rest = &rest[at + MARKER.len()..];
    }
    parts.push(rest.to_vec());
    let mut parts = parts.into_iter();
    names.iter().map(|name| RawFile { name: (*name).to_owned(), bytes: parts.next().unwrap_or_default() }).collect()
}

fn ingest(files: Vec<RawFile>, params: &Params) {
    let rng = StageRng::new(0, "ingest", 0);
    // The same file of links as a graph that another program has drawn.
    if let Some(graph) = params.edges.clone() {
        let nodes = NodeMap { names: ["0", "1", "2", "a"].map(str::to_owned).to_vec() };
        let params = ReleasedParams { graph, ..ReleasedParams::default() };
        let copies = files.iter().map(|file| RawFile { name: file.name.clone(), bytes: file.bytes.clone() });
        let _ = ReadReleased::run((copies.collect(), nodes), &params, &rng, &Progress::none());
    }
    let _ = Ingest::run((files,), params, &rng, &Progress::none());
}

/// Eight Planetoid files.
pub fn planetoid(data: &[u8]) {
    let names = ["allx", "ally", "tx", "ty", "graph", "test.index", "x", "y"].map(|part| format!("ind.x.{part}"));
    let params = Params { format: Some(Format::Planetoid), name: Some("x".into()), ..Params::default() };
    ingest(files(data, &names.each_ref().map(String::as_str)), &params);
}

/// An npz archive.
pub fn npz(data: &[u8]) {
    let params = Params { format: Some(Format::Npz), archive: Some("a.npz".into()), ..Params::default() };
    ingest(files(data, &["a.npz"]), &params);
}

/// Links, features, labels and nodes as text; the first byte tells which there are, and how features are written.
pub fn edges(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    let features = match kind % 4 {
        0 => "f.csv",
        1 => "f.json",
        2 if kind & 64 != 0 => "f.csv.zst",
        2 => "f.csv.gz",
        _ => "",
    };
    let params = Params {
        edges: Some("e.csv".into()),
        features: Some(features.to_owned()).filter(|name| !name.is_empty()),
        labels: Some("l.csv".to_owned()).filter(|_| kind & 4 == 0),
        induced: kind & 8 != 0,
        binarize: kind & 16 != 0,
        nodes: Some("n.csv".to_owned()).filter(|_| kind & 32 != 0),
        ..Params::default()
    };
    let mut files = files(data, &["e.csv", features, "l.csv", "n.csv"]);
    if features.ends_with(".zst") {
        // Four bytes may stand for 128 KiB: more bytes would grow beyond the limit of memory.
        files[1].bytes.truncate(512);
    }
    ingest(files, &params);
}

/// Links, features and labels as Parquet files; the first byte tells which there are.
pub fn parquet(data: &[u8]) {
    panics_are_answered();
    if let Some((&kind, data)) = data.split_first() {
        tables(kind, "parquet", data);
    }
}

/// Links, features and labels that are neither text nor Parquet; the first byte tells of what kind.
pub fn formats(data: &[u8]) {
    panics_are_answered();
    let Some((&kind, data)) = data.split_first() else { return };
    if kind % 5 == 4 {
        let split = veilgraph_ingest::SplitParams::Scheme(veilgraph_ingest::Scheme { scheme: "s".into() });
        let params = Params { format: Some(Format::Ogb), folder: Some("x".into()), split, ..Params::default() };
        let names = ["num-node-list", "edge", "node-feat", "node-label"].map(|part| format!("raw/{part}.csv.gz"));
        let splits = ["train", "valid", "test"].map(|part| format!("split/s/{part}.csv.gz"));
        let names: Vec<&str> = names.iter().chain(&splits).map(String::as_str).collect();
        // Compressed bytes would hide what is fuzzed.
        let files = files(data, &names).into_iter().map(|file| RawFile { bytes: zipped(&file.bytes), ..file });
        return ingest(files.collect(), &params);
    }
    tables(kind, ["arrow", "graphml", "npy", "npz"][usize::from(kind % 5)], data);
}

/// Two bits of `kind` tell whether features and labels come with the links.
fn tables(kind: u8, end: &str, data: &[u8]) {
    let [links, features, labels] = ["e", "f", "l"].map(|name| format!("{name}.{end}"));
    let params = Params {
        edges: Some(links.clone()),
        features: Some(features.clone()).filter(|_| kind & 64 != 0),
        labels: Some(labels.clone()).filter(|_| kind & 128 != 0),
        ..Params::default()
    };
    ingest(files(data, &[&links, &features, &labels]), &params);
}

/// The readers of Parquet and Arrow may panic, which their caller answers with an error. Only what is not answered so may end
/// the process.
fn panics_are_answered() {
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// A file of splits beside a valid graph.
pub fn split(data: &[u8]) {
    let mut files = files(data, &["s.txt"]);
    let text = |name: &str, text: &str| RawFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() };
    files.push(text("e.csv", "a,b\nb,c\nc,d\nd,e\ne,f\n"));
    files.push(text("l.csv", "a,0\nb,1\nc,0\nd,1\ne,0\nf,1\n"));
    let params = Params {
        edges: Some("e.csv".into()),
        labels: Some("l.csv".into()),
        split: veilgraph_ingest::SplitParams::File("s.txt".into()),
        ..Params::default()
    };
    ingest(files, &params);
}

/// The parameters of a mechanism, and what it would release.
fn releases<M: LocalMechanism>(text: &str) {
    let _ = toml::from_str::<M::Params>(text).map(|params| M::releases(&params));
}

/// The tables of a config.
pub fn params(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    releases::<Blink>(text);
    releases::<Dprr>(text);
    releases::<LDpGcn>(text);
    releases::<LdpGen<1>>(text);
    releases::<Rr>(text);
    releases::<SymRr>(text);
    let _ = toml::from_str::<veilgraph_estimate::Params>(text);
    let _ = toml::from_str::<veilgraph_construct::Params>(text);
    let _ = toml::from_str::<veilgraph_construct::CountsParams>(text);
    if let Ok(params) = toml::from_str::<Params>(text) {
        // A large synthetic graph is what its user asked for.
        if params.format() != Format::Synthetic {
            ingest(Vec::new(), &params);
        }
    }
}

/// The parameters that a collector asks nodes to report with: what is accepted has one canonical text.
pub fn parameters(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(parameters) = PublicParameters::from_text(text) {
        let again = PublicParameters::from_text(&parameters.to_text());
        assert_eq!(again.as_ref(), Ok(&parameters));
    }
}

/// Facts (lines `name=value` up to an empty line) and columns that a stranger wrote.
pub fn artifact(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    let end = data.windows(2).position(|window| window == b"\n\n").unwrap_or(0);
    let (facts, rows) = data.split_at(end);
    let text = String::from_utf8_lossy(facts);
    let facts =
        Facts(text.lines().filter_map(|line| line.split_once('=')).map(|(a, b)| (a.into(), b.into())).collect());
    match kind % 17 {
        0 => read::<NoisyLinks>(&facts, rows),
        1 => read::<NoisyDegrees>(&facts, rows),
        2 => read::<LinkEvidence>(&facts, rows),
        3 => read::<LinkModel>(&facts, rows),
        4 => read::<AdjacencyList>(&facts, rows),
        5 => read::<Features>(&facts, rows),
        6 => read::<Labels>(&facts, rows),
        7 => read::<Nodes>(&facts, rows),
        8 => read::<NodeMap>(&facts, rows),
        9 => read::<WeightedGraph>(&facts, rows),
        10 => read::<Predictions>(&facts, rows),
        11 => read::<SimilarPairs>(&facts, rows),
        12 => read::<Groups>(&facts, rows),
        13 => read::<NoisyCounts>(&facts, rows),
        14 => read::<NoisyEntries>(&facts, rows),
        15 => read::<Curves>(&facts, rows),
        _ => read::<ClassBeliefs>(&facts, rows),
    }
}

/// As the store does: first the footprint, then the rows; what is accepted must survive being written.
fn read<A: Artifact>(facts: &Facts, mut rows: &[u8]) {
    const LIMIT: u64 = 1 << 28;
    if A::footprint(facts, rows.len() as u64).is_ok_and(|bytes| bytes > LIMIT) {
        return;
    }
    let width: usize = A::COLUMNS.iter().map(|&(_, kind)| size(kind)).sum();
    let n_rows = rows.len() / width;
    let block = A::COLUMNS
        .iter()
        .map(|&(_, kind)| {
            let (column, rest) = rows.split_at(n_rows * size(kind));
            rows = rest;
            decode(kind, column)
        })
        .collect();
    if let Ok(artifact) = A::from_blocks(facts, &mut std::iter::once(block)) {
        let again = A::from_blocks(&artifact.facts(), &mut artifact.blocks());
        assert!(again.is_ok(), "what is read can be written and read again");
    }
}

fn size(kind: ColumnType) -> usize {
    match kind {
        ColumnType::U8 => 1,
        ColumnType::U16 => 2,
        ColumnType::U32 | ColumnType::F32 => 4,
        ColumnType::F64 | ColumnType::Utf8 | ColumnType::ListU32 | ColumnType::ListF32 => 8,
    }
}

fn decode(kind: ColumnType, bytes: &[u8]) -> Column {
    fn each<const N: usize, T>(bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
        bytes.as_chunks::<N>().0.iter().map(|&chunk| value(chunk)).collect()
    }
    match kind {
        ColumnType::U8 => Column::U8(bytes.to_vec()),
        ColumnType::U16 => Column::U16(each(bytes, u16::from_le_bytes)),
        ColumnType::U32 => Column::U32(each(bytes, u32::from_le_bytes)),
        ColumnType::F32 => Column::F32(each(bytes, f32::from_le_bytes)),
        ColumnType::F64 => Column::F64(each(bytes, f64::from_le_bytes)),
        ColumnType::Utf8 => Column::Utf8(each(bytes, |chunk: [u8; 8]| String::from_utf8_lossy(&chunk).into_owned())),
        ColumnType::ListU32 => {
            Column::ListU32(each(bytes, |chunk: [u8; 8]| chunk.map(u32::from)[..usize::from(chunk[0] % 8)].to_vec()))
        }
        ColumnType::ListF32 => {
            Column::ListF32(each(bytes, |chunk: [u8; 8]| chunk.map(f32::from)[..usize::from(chunk[0] % 8)].to_vec()))
        }
    }
}

/// The report of a node, by each mechanism that nodes speak for themselves: what is accepted is written in the same bytes.
pub fn report(data: &[u8]) {
    for (mechanism, degree) in [(veilgraph_client::Mechanism::Blink, 0.5), (veilgraph_client::Mechanism::SymRr, 0.0)] {
        for epsilon in [0.1, 4.0, 20.0] {
            let Ok(parameters) = PublicParameters::new("fuzz", mechanism, 300, epsilon, degree, 1) else { continue };
            let forged = sealed(data, &parameters);
            for bytes in [data, &forged] {
                if let Ok(report) = veilgraph_client::decode(bytes, &parameters) {
                    assert_eq!(veilgraph_client::encode(&report, &parameters), bytes);
                }
            }
        }
    }
}

/// Bytes before the list of a report: see docs/report-format.md.
const HEADER_OF_REPORT: usize = 25;

/// The input as the body of a report whose magic word, parameters and checksum are right: a forger can write those.
fn sealed(data: &[u8], parameters: &PublicParameters) -> Vec<u8> {
    let whole =
        veilgraph_client::Report::new(parameters, 7, Vec::new(), (parameters.epsilon_degree() > 0.0).then_some(1));
    let Ok(whole) = whole.map(|report| veilgraph_client::encode(&report, parameters)) else { return Vec::new() };
    let mut forged = whole[..HEADER_OF_REPORT].to_vec();
    forged.extend(data);
    let sum = blake3::derive_key("veilgraph 2026-11 checksum of reports v1", &forged);
    forged.extend(&sum[..8]);
    forged
}
