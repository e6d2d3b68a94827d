use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::encode::checksum;
use super::*;
use crate::{Mechanism, draw};

fn parameters(mechanism: Mechanism, n_nodes: u32, links: f64, degree: f64) -> PublicParameters {
    PublicParameters::new("town", mechanism, n_nodes, links, degree, 1).expect("usable")
}

/// Parameters, and any report that fits them: its list need not be likely.
fn any_report() -> impl Strategy<Value = (PublicParameters, Report)> {
    let budget = prop_oneof![Just(0.0), 0.001..20.0];
    let list = prop::collection::btree_set(0_u32..400, 0..60);
    (0..3_usize, 3_u32..400, budget.clone(), budget, 0_u32..400, list, any::<i64>(), 0_u32..64, any::<bool>())
        .prop_filter_map("some budget", |(mechanism, n_nodes, links, degree, node, list, sent, shift, is_simulated)| {
            let mechanism = Mechanism::ALL[mechanism];
            let degree = if mechanism.sends_degree() { degree } else { 0.0 };
            let parameters = PublicParameters::new("town", mechanism, n_nodes, links, degree, 1).ok()?;
            let node = node % n_nodes;
            let is_sent = |&other: &u32| links > 0.0 && other != node && other < parameters.list_length(node);
            let ones = list.into_iter().filter(is_sent).collect();
            let report = Report::new(&parameters, node, ones, (degree > 0.0).then_some(sent >> shift)).ok()?;
            Some((parameters, if is_simulated { report.simulated() } else { report }))
        })
}

/// The same bytes with the checksum that they should have.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 8);
    let sum = checksum(&bytes);
    bytes.extend(sum);
    bytes
}

/// Whatever is accepted is written in the same bytes again.
fn accepts_only_canonical(bytes: &[u8], parameters: &PublicParameters) -> Result<bool, TestCaseError> {
    let decoded = decode(bytes, parameters);
    if let Ok(report) = &decoded {
        prop_assert_eq!(encode(report, parameters), bytes);
    }
    Ok(decoded.is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_report_is_read_back((parameters, report) in any_report()) {
        prop_assert_eq!(decode(&encode(&report, &parameters), &parameters), Ok(report));
    }

    #[test]
    fn a_report_that_is_cut_short_is_refused((parameters, report) in any_report(), cut in 1_usize..1000) {
        let bytes = encode(&report, &parameters);
        let error = decode(&bytes[..bytes.len() - 1 - cut % bytes.len()], &parameters).expect_err("refused");
        prop_assert!(matches!(error.defect, Defect::Truncated | Defect::Checksum), "{}", error);
    }

    #[test]
    fn a_flipped_bit_is_noticed((parameters, report) in any_report(), bit: u16) {
        let mut bytes = encode(&report, &parameters);
        let bit = usize::from(bit) % (8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode(&bytes, &parameters).is_err());
    }

    /// Whoever writes the checksum as well gets no further than to another report.
    #[test]
    fn a_forged_report_is_refused_or_canonical(
        (parameters, report) in any_report(),
        changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..4),
        is_beyond_header: bool,
    ) {
        let mut bytes = encode(&report, &parameters);
        let first = if is_beyond_header { 25 } else { 0 };
        let n_bytes = bytes.len() - first;
        changes.iter().for_each(|&(at, value)| bytes[first + usize::from(at) % n_bytes] ^= value);
        accepts_only_canonical(&sealed(bytes), &parameters)?;
    }

    #[test]
    fn any_bytes_are_refused_or_canonical(
        (parameters, report) in any_report(),
        tail in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        prop_assert!(!accepts_only_canonical(&tail, &parameters)?);
        let header = &encode(&report, &parameters)[..25];
        accepts_only_canonical(&[header, &tail].concat(), &parameters)?;
        accepts_only_canonical(&sealed([header, &tail, &[0; 8]].concat()), &parameters)?;
    }

    #[test]
    fn bytes_after_the_end_are_counted((parameters, report) in any_report(), tail in prop::collection::vec(any::<u8>(), 1..9)) {
        let bytes = [encode(&report, &parameters), tail.clone()].concat();
        prop_assert_eq!(decode(&bytes, &parameters).map_err(|error| error.defect), Err(Defect::BytesAfterTheEnd(tail.len())));
        let content = [&bytes[..bytes.len() - tail.len() - 8], &tail, &[0; 8]].concat();
        let defect = decode(&sealed(content), &parameters).expect_err("refused").defect;
        prop_assert_eq!(defect, Defect::BytesAfterTheEnd(tail.len()));
    }
}

/// The report that docs/report-format.md takes apart, byte by byte.
#[test]
fn the_page_about_the_format_tells_the_truth() {
    let page = include_str!("../../../docs/report-format.md");
    let town = PublicParameters::new("town", Mechanism::Blink, 40, 2.0, 0.5, 1).expect("usable");
    assert!(page.contains(&town.to_text()), "the parameters:\n{}", town.to_text());
    let report = Report::new(&town, 5, vec![0, 3, 11, 12, 39], Some(-2)).expect("fits");
    let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    let bytes = encode(&report, &town);
    let parts = [
        0..4,
        4..5,
        5..21,
        21..25,
        25..26,
        26..bytes.len() - 9,
        bytes.len() - 9..bytes.len() - 8,
        bytes.len() - 8..bytes.len(),
    ];
    for part in parts {
        let (start, part) = (part.start, hexadecimal(&bytes[part]));
        let written = format!("| {start} | `{part}` |");
        assert!(page.contains(&written), "{written}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let town = parameters(Mechanism::Blink, 40, 2.0, 0.5);
    let bytes = encode(&Report::new(&town, 5, vec![7], Some(1)).expect("fits"), &town);
    let said =
        |bytes: &[u8], parameters: &PublicParameters| decode(bytes, parameters).expect_err("refused").to_string();
    assert_eq!(said(b"PAR1 and more", &town), "these bytes are no report");
    assert_eq!(said(b"", &town), "the report is cut short or damaged");
    let mut later = bytes.clone();
    later[3] = b'2';
    assert_eq!(said(&later, &town), "the report has version `2` of the format, and this program reads `1`");
    let other = parameters(Mechanism::Blink, 40, 2.0, 0.6);
    let why = "the report was made for other parameters: another population, mechanism, number or numbering of nodes, budget, \
               or release";
    assert_eq!(said(&bytes, &other), format!("report of node 5: {why}"));
    assert_eq!(said(&bytes, &town.clone().with_numbering([1; 32])), format!("report of node 5: {why}"));
    let changed = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        sealed(bytes)
    };
    assert_eq!(
        said(&changed(21, 40), &town),
        "report of node 40: node 40 does not exist: the numbers of 40 nodes begin with 0"
    );
    assert_eq!(said(&changed(21, 7), &town), "report of node 7: the list of node 7 names the node itself");
    assert_eq!(said(&changed(4, 0), &town), "report of node 5: there is no degree, and epsilon_degree is not 0");
    assert_eq!(said(&changed(4, 6), &town), "report of node 5: the flags 0b00000110 have no meaning");
    let rr = parameters(Mechanism::Rr, 40, 2.0, 0.0);
    let mut unasked = encode(&Report::new(&rr, 5, vec![7], None).expect("fits"), &rr);
    unasked[4] = 2;
    unasked.insert(unasked.len() - 8, 3);
    assert_eq!(said(&sealed(unasked), &rr), "report of node 5: there is a degree, and epsilon_degree is 0");
}

/// A count or a gap beyond all bounds costs neither memory nor time.
#[test]
fn lengths_are_not_believed() {
    let town = parameters(Mechanism::Rr, MOST, 9.0, 0.0);
    let header = &encode(&Report::new(&town, 5, vec![], None).expect("fits"), &town)[..25];
    for count in [u64::MAX, 1 << 40, 1 << 20] {
        let mut bytes = header.to_vec();
        varint::write(count, &mut bytes);
        bytes.extend([0xff; 40]);
        assert!(decode(&sealed(bytes), &town).is_err());
    }
    let far = [header, &[1], &vec![0; 1 << 16], &[1], &[0; 20]].concat();
    let defect = decode(&sealed(far), &town).expect_err("refused").defect;
    assert!(matches!(defect, Defect::Content(ReportError::OutOfRange { .. })), "{defect:?}");
}

const MOST: u32 = crate::MOST_NODES;

/// Mean bytes of reports of a node without links, beside the entropy of their noise.
#[test]
fn the_size_is_that_of_the_noise() {
    for (epsilon, n_reports) in [(0.1, 40), (0.48, 40), (1.0, 40), (4.0, 100), (8.0, 400), (10.0, 400)] {
        let town = parameters(Mechanism::Blink, 10_000, epsilon, 0.5);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut degree_rng = ChaCha20Rng::seed_from_u64(2);
        let sizes = (0..n_reports)
            .map(|_| encode(&draw(&town, 17, &[], &mut rng, &mut degree_rng).expect("drawn"), &town).len());
        let mean = sizes.sum::<usize>() as f64 / f64::from(n_reports);
        let bound = town.list_entropy(17) / 8.0;
        println!("{epsilon} nats: {mean:.1} bytes, entropy {bound:.1} bytes");
        // Header, count, degree, padding and checksum.
        let frame = f64::from(25 + 2 + 1 + 1 + 8);
        assert!(mean <= 1.05 * bound + frame, "{epsilon} nats: {mean} bytes for {bound}");
        assert!(mean >= 0.98 * bound, "no code is shorter: {epsilon} nats, {mean} bytes for {bound}");
    }
}

#[test]
fn a_million_nodes_fit_into_little() {
    let town = parameters(Mechanism::Blink, 1_000_000, 10.0, 0.5);
    let neighbours: Vec<u32> = (0..1000).map(|at| 997 * at + 1).collect();
    let [mut links, mut degree] = [1, 2].map(ChaCha20Rng::seed_from_u64);
    let report = draw(&town, 0, &neighbours, &mut links, &mut degree).expect("drawn");
    let size = encode(&report, &town).len();
    println!("{size} bytes for {} ones", report.ones().len());
    assert!(size < 16 * 1024, "{size} bytes");
}
