use super::*;

fn release(cost: Cost) -> Release {
    Release {
        noise: "gaussian noise".to_owned(),
        subject: Subject::Features,
        trust: Trust::Central,
        relation: Relation::NodeFeatures,
        cost,
        sound: true,
        claimed_epsilon: None,
        why: String::new(),
    }
}

/// Whatever a ledger writes it can read again, infinite costs included.
#[test]
fn every_cost_survives_its_line() {
    let curve = vec![(2.0, 0.5), (4.0, f64::INFINITY)];
    for cost in [
        Cost::Pure(1.5),
        Cost::Pure(f64::INFINITY),
        Cost::Approximate { epsilon: 2.0, dp_delta: 1e-6, rdp: Vec::new() },
        Cost::Approximate { epsilon: f64::INFINITY, dp_delta: 1e-6, rdp: curve },
    ] {
        let line = serde_json::to_string(&release(cost.clone())).expect("plain data");
        let again: Release = serde_json::from_str(&line).expect("the same");
        assert_eq!(again, release(cost), "{line}");
    }
}

/// The names of the ledger's fields are those of its first version.
#[test]
fn rows_of_the_first_version_are_read() {
    let line = r#"{"mechanism":"randomized response","target":"link","model":"local","relation":"list-bit","epsilon":1.6,
                   "dp_delta":0.0,"sound":true}"#;
    let row: Release = serde_json::from_str(line).expect("a row");
    assert_eq!((row.subject, row.trust, row.relation), (Subject::Links, Trust::Local, Relation::ListBit));
    assert_eq!(row.cost, Cost::Pure(1.6));
}
