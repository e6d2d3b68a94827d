//! What commands print for programs has the fields that docs/schemas/ says, and no others.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Lab, TINY, rows};

/// The schema of a command.
fn schema(command: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").join(format!("{command}.json"));
    serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON")
}

/// Whether a value has one of the types that a schema names.
fn has_type(value: &Value, wanted: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the schema has a type `{other}` that this test does not know"),
    };
    match wanted {
        Value::String(name) => is(name),
        names => rows(names).any(|name| is(name.as_str().expect("a name"))),
    }
}

/// Holds a value against the parts of JSON Schema that our schemas use.
fn check(value: &Value, schema: &Value, place: &str) {
    let Some(wanted) = schema.get("type") else { return };
    assert!(has_type(value, wanted), "{place}: {value} is not of type {wanted}");
    if let Some(names) = schema.get("enum") {
        assert!(rows(names).any(|name| name == value), "{place}: {value} is none of {names}");
    }
    if schema.get("pattern").is_some() && !value.is_null() {
        let is_key = |text: &str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(value.as_str().is_some_and(is_key), "{place}: {value} is no key");
    }
    for (at, item) in rows(value).enumerate() {
        check(item, &schema["items"], &format!("{place}[{at}]"));
    }
    if let Some(fields) = value.as_object() {
        let properties = schema["properties"].as_object().expect("fields");
        let others = schema.get("additionalProperties");
        let required: Vec<&str> = rows(&schema["required"]).map(|name| name.as_str().expect("a name")).collect();
        for (name, field) in fields {
            let known = properties.get(name).or(others);
            let known = known.unwrap_or_else(|| panic!("{place}.{name} is not documented"));
            check(field, known, &format!("{place}.{name}"));
        }
        for name in required {
            assert!(fields.contains_key(name), "{place}.{name} is missing");
        }
    }
}

/// What a command prints, held against its schema.
pub(crate) fn printed(lab: &Lab, status: i32, arguments: &[&str]) -> Value {
    let answer = lab.call(&[arguments, &["--json"]].concat());
    assert_eq!(answer.status, status, "{arguments:?}: {}", answer.err);
    let document: Value =
        serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", answer.out));
    check(&document, &schema(arguments[0]), arguments[0]);
    document
}

#[test]
fn plans_runs_and_the_ledger_are_told_to_programs() {
    let check = "[[check]]\nscore = \"accuracy\"\nat_least = 0.1\n";
    let lab = Lab::with("config.toml", format!("{TINY}\n{check}"));
    let sweep = ["--set", "train.model=[\"gcn\", \"mlp\"]", "--set", "references=[\"no-links\", \"non-private\"]"];
    let before = printed(&lab, 0, &[&["plan", "config.toml", "--quiet"], &sweep[..]].concat());
    assert!(before["totals"]["tasks"].as_u64().is_some_and(|tasks| tasks > 8), "{before}");
    assert_eq!(before["would_spend"], before["spent"]);
    let run = printed(&lab, 0, &[&["run", "config.toml"], &sweep[..]].concat());
    assert!(run["checks"][0]["passed"] == true && run["spent"] == before["spent"], "{run}");
    assert!(rows(&run["metrics"]).any(|row| row["epsilon"] == "inf"), "what protects nothing: {run}");
    let after = printed(&lab, 0, &[&["plan", "config.toml", "--quiet"], &sweep[..]].concat());
    assert_eq!(after["totals"]["tasks"], 0, "{after}");
    let ledger = printed(&lab, 0, &["ledger"]);
    assert_eq!(rows(&ledger).count(), rows(&run["spent"]).count());
}

#[test]
fn gc_says_to_programs_what_goes_and_what_stays() {
    let lab = Lab::tiny();
    assert_eq!(printed(&lab, 0, &["gc"])["removed"]["entries"], 0, "there is no store yet");
    lab.json(&["--set", "trials=1"]);
    lab.json(&["--set", "trials=1", "--set", "train.epochs=3"]);
    let young = printed(&lab, 0, &["gc"]);
    assert!(young["kept_by_age"]["entries"].as_u64().is_some_and(|entries| entries >= 2), "{young}");
    assert_eq!(young["removed_entries"].as_array().map(Vec::len), Some(0), "{young}");
    let kept = printed(&lab, 0, &["gc", "--older-than", "0", "--keep-size", "1GiB"]);
    assert_eq!(kept["kept_by_size"]["entries"], young["kept_by_age"]["entries"], "{kept}");
    let dry = printed(&lab, 0, &["gc", "--older-than", "0", "--dry-run"]);
    let gone = printed(&lab, 0, &["gc", "--older-than", "0"]);
    assert!(dry["dry_run"] == true && gone["dry_run"] == false, "{dry} {gone}");
    assert_eq!(dry["removed_entries"], gone["removed_entries"], "the dry run says what goes");
    let bytes: u64 = rows(&gone["removed_entries"]).filter_map(|entry| entry["bytes"].as_u64()).sum();
    assert_eq!(gone["removed"]["bytes"].as_u64(), Some(bytes), "{gone}");
    assert_eq!(gone["removed"]["entries"], young["kept_by_age"]["entries"], "{gone}");
    assert_eq!(printed(&lab, 0, &["gc", "--forget", "tiny", "--dry-run"])["forgotten"], "tiny");
}

#[test]
fn verify_names_damaged_entries_to_programs() {
    let lab = Lab::tiny();
    lab.json(&["--set", "trials=1"]);
    let sound = printed(&lab, 0, &["verify"]);
    assert!(sound["files"].as_u64().is_some_and(|files| files > 10), "{sound}");
    let link = lab.path("artifacts/simulation/runs/tiny/construct/trial-0/graph.parquet");
    let file = fs::canonicalize(link).expect("a graph");
    fs::write(&file, "damaged").expect("written");
    let damaged = printed(&lab, 1, &["verify"]);
    let key = file.parent().and_then(Path::file_name).expect("a key").to_string_lossy().into_owned();
    let entry = &damaged["damaged"][0];
    assert!(entry["stage"] == "construct" && entry["key"] == key.as_str() && entry["can_be_made"] == true, "{damaged}");
    assert!(entry["problems"][0].as_str().is_some_and(|problem| problem.contains("graph.parquet")), "{damaged}");
    let removed = printed(&lab, 0, &["verify", "--remove"]);
    assert_eq!(removed["removed_entries"], 1, "{removed}");
    assert_eq!(removed["files"], damaged["files"], "{removed}");
    assert_eq!(printed(&lab, 0, &["verify"])["damaged"].as_array().map(Vec::len), Some(0));
}

#[test]
fn diff_gives_reasons_and_differences_to_programs() {
    let lab = Lab::tiny();
    lab.json(&[]);
    lab.json(&["--set", "train.epochs=1", "--set", "train.hidden=2"]);
    let changed = printed(&lab, 0, &["diff", "tiny@2", "tiny"]);
    assert!(changed["before"] == "tiny@2" && changed["after"] == "tiny", "{changed}");
    let training = rows(&changed["changed"]).find(|row| row["stage"] == "train").expect("another training");
    assert_eq!(training["runs"].as_array().map(Vec::len), Some(2), "two trials: {changed}");
    assert!(rows(&training["reasons"]).any(|reason| reason == "hidden changed 16 -> 2"), "{changed}");
    let score = rows(&changed["scores"]).find(|row| row["metric"] == "accuracy").expect("another accuracy");
    let mean = |part: &str| score[part]["mean"].as_f64().expect("a mean");
    assert!((mean("after") - mean("before") - mean("difference")).abs() < 1e-9, "{score}");
    let same = printed(&lab, 0, &["diff", "tiny@1", "tiny@1"]);
    assert!(same["changed"] == Value::Array(Vec::new()) && same["scores"] == Value::Array(Vec::new()), "{same}");
    let fewer = ["--set", "trials=1", "--set", "name=fewer", "--set", "train.epochs=1", "--set", "train.hidden=2"];
    lab.json(&fewer);
    let only = printed(&lab, 0, &["diff", "tiny", "fewer"]);
    assert!(rows(&only["only_before"]).any(|row| row["runs"][0] == "trial-1"), "{only}");
    assert_eq!(only["only_after"], Value::Array(Vec::new()), "{only}");
}

#[test]
fn doctor_reports_to_programs() {
    let lab = Lab::tiny();
    let early = printed(&lab, 0, &["doctor"]);
    assert!(early["store"]["writable"] == true && early["entries"]["count"] == 0, "{early}");
    lab.json(&["--set", "trials=1"]);
    lab.write("data/readme.txt", "no dataset");
    let later = printed(&lab, 0, &["doctor", "--data-dir", "data"]);
    assert!(later["entries"]["count"].as_u64().is_some_and(|entries| entries > 4), "{later}");
    assert!(later["ledger"]["count"].as_u64().is_some_and(|rows| rows > 0), "{later}");
    assert!(rows(&later["data"]).any(|row| row["name"] == "cora" && row["state"] == "incomplete"), "{later}");
    assert_eq!(lab.call(&["doctor", "--data-dir", "nowhere", "--json"]).status, 2, "a wrong option");
}

#[test]
fn the_lineage_of_an_entry_is_told_to_people_and_to_programs() {
    let lab = Lab::tiny();
    let document = lab.json(&["--set", "trials=1"]);
    let training = rows(&document["stages"]).find(|row| row["stage"] == "train").expect("a training");
    let key = training["key"].as_str().expect("a key");
    let shown = |arguments: &[&str]| {
        let answer = lab.call(&[&["show"], arguments].concat());
        assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.err);
        answer.out
    };
    let out = shown(&["tiny/train/trial-0/predictions", "--lineage", "--format", "json"]);
    assert_eq!(out, shown(&[key, "--format", "json"]), "by the name of an artifact, and by the key");
    let lineage: Value = serde_json::from_str(&out).expect("JSON");
    check(&lineage, &schema("lineage"), "lineage");
    assert!(lineage["stage"] == "train" && lineage["key"] == key && lineage["same_code"] == true, "{lineage}");
    let first = &lineage["entries"][0];
    assert!(first["key"] == key && first["settings"].to_string().contains("\"epochs\":20"), "{first}");
    assert!(rows(&first["inputs"]).any(|input| input["name"] == "graph" && input["stage"] == "construct"), "{first}");
    for stage in ["construct", "estimate", "privatize", "ingest"] {
        assert!(rows(&lineage["entries"]).any(|entry| entry["stage"] == stage), "{stage}: {lineage}");
    }
    assert!(rows(&lineage["read_by"]).any(|reader| reader["stage"] == "evaluate"), "{lineage}");
    assert!(rows(&lineage["used_by"]).any(|used| used["run"] == "tiny@1" && used["label"] == "trial-0"), "{lineage}");
    assert!(lineage["made"]["host"].is_string() && lineage["made"]["why"][0] == "it never ran", "{lineage}");
    let told = shown(&[key]);
    for words in
        ["epochs = 20", "seed        42", "used by     tiny@1 as trial-0", "    graph from construct ", "made from"]
    {
        assert!(told.contains(words), "`{words}` is not in {told}");
    }
    // What it says does make the entry again.
    let commands: Vec<&str> = rows(&lineage["make_again"]).filter_map(Value::as_str).collect();
    assert_eq!(commands, ["veilgraph config tiny@1 > again.toml", "veilgraph run again.toml --until train"]);
    let config = lab.call(&["config", "tiny@1"]);
    assert_eq!(config.status, 0, "{}", config.err);
    lab.write("again.toml", &config.out);
    assert_eq!(lab.call(&["gc", "--all"]).status, 0);
    let gone = lab.call(&["show", key]);
    assert!(gone.status == 1 && gone.err.contains("no entry of this store has such a key"), "{}", gone.err);
    let again = lab.call(&["run", "again.toml", "--until", "train"]);
    assert_eq!(again.status, 0, "{}", again.err);
    let anew: Value = serde_json::from_str(&shown(&[key, "--format", "json"])).expect("JSON");
    assert_eq!(anew["artifacts"], lineage["artifacts"], "the same bytes");
    // What has no lineage, and what is asked wrongly.
    let rows_of_key = lab.call(&["show", key, "--head", "3"]);
    assert!(rows_of_key.status == 1 && rows_of_key.err.contains("is the key of an entry"), "{}", rows_of_key.err);
    let table = lab.call(&["show", key, "--format", "csv"]);
    assert!(table.status == 1 && table.err.contains("--format json"), "{}", table.err);
    lab.json(&["--set", "trials=1"]);
    let scores = lab.call(&["show", "artifacts/auditor/runs/tiny/scores.parquet", "--lineage"]);
    assert!(scores.status == 1 && scores.err.contains("belongs to no entry"), "{}", scores.err);
    let absent = lab.call(&["config", "tiny@9"]);
    assert!(absent.status == 2 && absent.err.contains("tiny@9: the history of `tiny` has "), "{}", absent.err);
}
