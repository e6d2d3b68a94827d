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

/// Sizes whose product is beyond 64 bits, or that are not in decimal digits; an array without entries is read.
#[test]
fn sizes_are_multiplied_before_they_are_believed() {
    let shaped = |shape: &str| {
        with_header(1, format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n").as_bytes())
    };
    for (shape, words) in [
        ("14760069857652594009, 2,", "more than 64 bits"),
        ("4294967296, 4294967296,", "more than 64 bits"),
        (&format!("{}14760069857652594009, 2,", "0".repeat(80)), "more than 64 bits"),
        ("9223372036854775808, 2, 0,", "more than 64 bits"),
        ("0xffffffffffffffff, 2,", "`0xffffffffffffffff` where a decimal number is expected"),
        ("99999999999999999999,", "`99999999999999999999` where a decimal number is expected"),
        (&"1+1, ".repeat(64), "has a sum"),
    ] {
        let problem = plain_array(&shaped(shape)).expect_err("too many");
        assert!(problem.contains(words), "{shape}: {problem}");
    }
    // The longest header of an archive is looked at to its end.
    let spaces = " ".repeat(LONGEST_HEADER - 70);
    let header = format!("{{'descr': '<f8', 'fortran_order': False, {spaces}'shape': (4294967296, 4294967296,)}}");
    let header = &header[header.len().saturating_sub(LONGEST_HEADER)..];
    let bytes = archive(&with_header(2, header.as_bytes()), CompressionMethod::Deflated);
    let problem = Archive::open(&bytes).and_then(|mut archive| archive.numbers("a")).expect_err("too many");
    assert!(problem.contains("more than 64 bits"), "{} bytes: {problem}", header.len());
    assert!(plain_array(&shaped("1152921504606846975, 16,")).expect_err("too many").contains("declares the shape"));
    for shape in ["0,", "0, 4294967295,", "3, 0,"] {
        assert_eq!(plain_array(&shaped(shape)).map(|(_, numbers)| numbers), Ok(vec![]), "{shape}");
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

/// An array of one dimension with these bytes.
fn array_of(kind: &str, size: usize, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({size},), }}\n");
    [with_header(1, header.as_bytes()), data.to_vec()].concat()
}

/// Examples of IEEE 754: the largest number, the smallest normal one, the smallest of all, and what is no number.
#[test]
fn numbers_of_half_precision_are_read() {
    let examples: [(u16, f64); 8] = [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x3555, 1365.0 / 4096.0),
        (0x7bff, 65_504.0),
        (0x0400, 1.0 / 16_384.0),
        (0x0001, 1.0 / 16_777_216.0),
        (0x8000, 0.0),
        (0xfc00, f64::NEG_INFINITY),
    ];
    let data: Vec<u8> = examples.iter().flat_map(|(bits, _)| bits.to_le_bytes()).collect();
    let (shape, numbers) = plain_array(&array_of("<f2", 8, &data)).expect("an array");
    assert_eq!((shape, numbers), (vec![8], examples.map(|(_, number)| number).to_vec()));
    let nan = plain_array(&array_of("<f2", 1, &[0x01, 0x7c])).expect("an array").1;
    assert!(nan[0].is_nan());
    assert!(plain_array(&array_of("<f2", 9, &data)).is_err(), "cut short");
}

#[test]
fn texts_are_read_and_numbers_are_none() {
    let letters: Vec<u8> = "abéc\0\0".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    let texts = plain_texts(&array_of("<U2", 3, &letters)).expect("an array").expect("texts");
    assert_eq!(texts, (vec![3], vec!["ab".to_owned(), "éc".to_owned(), String::new()]));
    let bytes = plain_texts(&array_of("|S2", 2, b"abc\0")).expect("an array").expect("texts");
    assert_eq!(bytes.1, ["ab", "c"]);
    assert_eq!(plain_texts(&array_of("<i4", 1, &[1, 0, 0, 0])), Ok(None));
    for (kind, size) in [("<U0", 1_000_000_000), ("<U2", 1_000_000_000), ("<U2", 4)] {
        assert!(plain_texts(&array_of(kind, size, &letters)).is_err(), "{size} texts of {kind}");
    }
    let packed = archive(&array_of("<U2", 3, &letters), CompressionMethod::Deflated);
    let mut packed = Archive::open(&packed).expect("an archive");
    assert_eq!(packed.texts("a").expect("texts").expect("texts").len(), 3);
    assert_eq!(packed.texts("b"), Ok(None));
}
