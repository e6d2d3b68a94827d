use std::io::Write;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

/// An array with this header.
fn with_header(version: u8, header: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x93];
    bytes.extend(b"NUMPY");
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes()),
        _ => bytes.extend(u32::try_from(header.len()).expect("short").to_le_bytes()),
    }
    bytes.extend(header);
    bytes
}

/// An array whose header has a list in a list in a list, as deep as said.
fn nested(depth: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(depth), "]".repeat(depth));
    with_header(1, format!("{{'descr': {open}'<f8'{close}, 'fortran_order': False, 'shape': (0,)}}\n").as_bytes())
}

fn archive(member: &[u8], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("a.npy", SimpleFileOptions::default().compression_method(method)).expect("a member");
    archive.write_all(member).expect("written");
    archive.finish().expect("whole").into_inner()
}

#[test]
fn deeply_nested_headers_are_refused_packed_or_not() {
    let deep = nested(40);
    assert!(plain_array(&deep).expect_err("too deep").contains("no list of its properties"));
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let bytes = archive(&deep, method);
        let problem = Archive::open(&bytes).and_then(|mut archive| archive.numbers("a")).expect_err("too deep");
        assert!(problem.contains("no list of its properties"), "{method}: {problem}");
    }
}

/// Brackets behind a bracket or the end of a line in a text, behind many spaces, and in headers with a long length.
#[test]
fn nothing_before_nested_brackets_hides_them() {
    let deep = "[".repeat(40);
    let spaces = " ".repeat(60_000);
    for before in ["{'}': ", "{'''\n''': ", &spaces] {
        for version in [1, 2, 3] {
            let bytes = with_header(version, format!("{before}{deep}").as_bytes());
            assert!(plain_array(&bytes).expect_err("too deep").contains("no list of its properties"), "{version}");
        }
    }
    let mut long = with_header(2, b"{");
    long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let bytes = archive(&long, CompressionMethod::Deflated);
    let problem = Archive::open(&bytes).and_then(|mut archive| archive.numbers("a")).expect_err("too long");
    assert!(problem.contains("4294967295 bytes"), "{problem}");
}

#[test]
fn keys_are_those_of_arrays_and_a_missing_one_is_named() {
    let bytes = archive(&nested(0), CompressionMethod::Deflated);
    let mut archive = Archive::open(&bytes).expect("an archive");
    assert_eq!(archive.keys(), ["a"]);
    assert_eq!(archive.numbers("a"), Ok(Vec::new()));
    assert_eq!(archive.numbers("b"), Err("it is missing".to_owned()));
}
