//! Commands beside `run`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use crate::support::{Lab, data_dir};

#[test]
fn show_prints_schema_metadata_rows_and_answers_sql() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let shown = lab.call(&["show", "tiny/privatize/trial-0/noisy_links", "--head", "3"]);
    for word in
        ["epsilon_links", "deployable               false", "source u32, target u32", " rows\n", "shape: (3, 2)"]
    {
        assert!(shown.out.contains(word), "{word} is not in {}", shown.out);
    }
    let path = "artifacts/simulation/runs/tiny/construct/trial-0/graph.parquet";
    let answer =
        lab.call(&["show", path, "--sql", "SELECT COUNT(*) AS links, MAX(weight) <= 1 AS bounded FROM artifact"]);
    assert!(answer.status == 0 && answer.out.contains("true"), "{}{}", answer.out, answer.err);
    // Rows from the middle, some columns, a condition on another column, and groups.
    for (query, shape) in [
        ("SELECT target FROM artifact LIMIT 3 OFFSET 2", "shape: (3, 1)"),
        ("SELECT * FROM artifact LIMIT 2", "shape: (2, 3)"),
        ("SELECT source FROM artifact WHERE weight > 2 LIMIT 5", "shape: (0, 1)"),
        ("SELECT source, COUNT(*) AS links FROM artifact GROUP BY source ORDER BY links DESC LIMIT 4", "shape: (4, 2)"),
    ] {
        let answer = lab.call(&["show", path, "--sql", query]);
        assert!(answer.status == 0 && answer.out.contains(shape), "{query}: {}{}", answer.out, answer.err);
    }
    let counted = lab.call(&["show", path, "--sql", "SELECT COUNT(*) AS n FROM artifact", "--format", "csv"]).out;
    let said = lab.call(&["show", path]).out;
    assert!(said.contains(&format!("  {} rows\n", counted.lines().nth(1).expect("a number"))), "{said}");
    let wide = lab.call(&["show", "artifacts/auditor/runs/tiny/scores.parquet"]).out;
    let columns = wide.lines().find_map(|line| line.trim().strip_prefix("columns: ")).expect("columns");
    let n_columns = columns.split(", ").count();
    assert!(n_columns > 8, "{wide}");
    assert_eq!(wide.matches("shape: (").count(), n_columns.div_ceil(8), "in parts of eight columns: {wide}");
    let log = lab.call(&["show", "artifacts/auditor/runs/tiny/log.jsonl"]);
    assert!(log.status == 1 && log.err.contains("this file is text"), "{}", log.err);
    let wrong = lab.call(&["show", path, "--sql", "SELECT nonsense FROM artifact"]);
    assert!(wrong.status == 1 && wrong.err.contains("the table is called `artifact`"), "{}", wrong.err);
}

#[test]
fn rows_are_shown_to_programs() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let graph = "tiny/construct/variant-hybrid,trial-0/graph";
    let show = |more: &[&str]| {
        let names = lab.call(&["show", "tiny/construct"]).out;
        let name = names.lines().find(|name| name.ends_with("trial-0/graph")).unwrap_or(graph).to_owned();
        let answer = lab.call(&[&["show", &name], more].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.out
    };
    let csv = show(&["--format", "csv", "--head", "3"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    assert!(records.len() == 3 && header.contains(&"weight".to_owned()), "{csv}");
    let json = show(&["--format", "json", "--head", "3"]);
    for (line, record) in json.lines().zip(&records) {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for (name, field) in header.iter().zip(record) {
            assert_eq!(row[name].to_string(), field, "{line}");
        }
    }
    assert_eq!(json.lines().count(), 3);
    let query = ["--sql", "SELECT COUNT(*) AS pairs, 'a,\"b' AS word FROM artifact", "--format"];
    assert!(show(&[&query[..], &["csv"]].concat()).ends_with(",\"a,\"\"b\"\n"));
    let row: serde_json::Value = serde_json::from_str(&show(&[&query[..], &["json"]].concat())).expect("JSON");
    assert!(row["pairs"].as_u64().is_some_and(|pairs| pairs > 3) && row["word"] == "a,\"b", "{row}");
}

#[test]
fn a_report_is_one_page_that_needs_nothing_else() {
    let lab = Lab::tiny();
    let early = lab.call(&["report", "config.toml"]);
    assert!(early.status == 1 && early.err.contains("run `veilgraph run config.toml` first"), "{}", early.err);
    let sweep = ["--set", "privatize.links.epsilon=[2, 6]"];
    lab.json(&sweep);
    let answer = lab.call(&[&["report", "config.toml"], &sweep[..]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    let page = fs::read_to_string(lab.path(answer.out.trim())).expect("the page");
    for word in [
        "<svg",
        "Accuracy of test nodes",
        "Mean absolute error",
        "bound (theorem 4.4)",
        "undirected link",
        "is a simulation",
    ] {
        assert!(page.contains(word), "{word}");
    }
    let fetches = ["src=", "href=\"http", "@import", "url(", "fetch(", "XMLHttpRequest"];
    assert!(fetches.iter().all(|word| !page.contains(word)), "it fetches nothing");
}

/// The page showed the outer file, which is not all that ran.
#[test]
fn a_report_shows_the_config_as_it_ran() {
    let lab = Lab::tiny();
    lab.write("child.toml", "extends = \"config.toml\"\n[train]\nhidden = 8\n");
    let set = ["child.toml", "--set", "privatize.links.epsilon=3.5"];
    assert_eq!(lab.call(&[&["run"][..], &set].concat()).status, 0);
    let answer = lab.call(&[&["report"][..], &set].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    let page = fs::read_to_string(lab.path(answer.out.trim())).expect("the page");
    for line in ["hidden = 8", "mean_degree = 4", "epsilon = 3.5"] {
        assert!(page.contains(line), "{line}");
    }
    assert!(!page.contains("extends ="), "nothing is left to look up");
}

#[test]
fn doctor_completions_and_help_answer() {
    let lab = Lab::new();
    let doctor = lab.call(&["doctor"]);
    assert!(doctor.status == 0 && doctor.out.contains("writable") && doctor.out.contains("estimate"), "{}", doctor.out);
    assert!(lab.call(&["completions", "bash"]).out.contains("veilgraph"));
    assert!(lab.call(&["--help"]).out.contains("Exit status"));
    assert_eq!(lab.call(&["nonsense"]).status, 2);
    assert_eq!(lab.call(&["run", "x.toml", "--until", "nonsense"]).status, 2);
}

/// Serves files of `folder` (or this text for every path) to the next `requests` requests.
fn serve(folder: Option<PathBuf>, text: &'static [u8], requests: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming().take(requests) {
            let mut stream = stream.expect("a request");
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).expect("readable");
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split(' ').nth(1).expect("a path").trim_start_matches('/').to_owned();
            let body =
                folder.as_ref().map_or_else(|| text.to_vec(), |folder| fs::read(folder.join(path)).expect("the file"));
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).expect("sent");
        }
    });
    address
}

#[test]
fn fetch_refuses_what_has_another_checksum() {
    let lab = Lab::new();
    let mirror = serve(None, b"forged", 1);
    let answer = lab.call(&["fetch", "cora", "--data-dir", "data", "--mirror", &mirror]);
    assert!(answer.status == 1 && answer.err.contains("checksum mismatch"), "{}", answer.err);
    assert!(!lab.path("data").exists(), "nothing was written, and no folder for it");
    lab.write("mine/cora/ind.cora.allx", "forged");
    let folder = lab.call(&["fetch", "cora", "--data-dir", "data", "--from", "mine"]);
    for words in ["mine/cora/ind.cora.allx: checksum mismatch", "mine/ind.cora.allx: cannot read"] {
        assert!(folder.status == 1 && folder.err.contains(words), "{}", folder.err);
    }
    assert!(!lab.path("data").exists());
    let unknown = lab.call(&["fetch", "corra"]);
    assert!(unknown.status == 2 && unknown.err.contains("did you mean `cora`"), "{}", unknown.err);
    let hostless = lab.call(&["fetch", "ego_twitter", "--data-dir", "data"]);
    assert!(hostless.status == 1 && hostless.err.contains("no host offers"), "{}", hostless.err);
    let refused = lab.call(&["fetch", "cora", "--data-dir", "data", "--mirror", "http://127.0.0.1:1"]);
    assert!(refused.status == 1 && refused.err.contains("cannot download"), "{}", refused.err);
}

/// A file whose checksum nobody knows is trusted on first use, and `fetch` says which one to pin.
#[test]
fn fetch_names_the_checksum_of_a_file_that_has_none() {
    let lab = Lab::new();
    for file in ["edges.csv", "target.csv", "features.json"] {
        lab.write(&format!("mine/twitch/{file}"), "abc");
    }
    // Of FIPS 180-2, appendix B.1.
    let pinned = "sha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"";
    for words in ["0 KiB; its checksum is not known", "already there; its checksum is not known"] {
        let answer = lab.call(&["fetch", "twitch", "--data-dir", "data", "--from", "mine"]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        assert_eq!((answer.out.matches(words).count(), answer.out.matches(pinned).count()), (3, 3), "{}", answer.out);
    }
    let doctor = lab.call(&["doctor", "--data-dir", "data"]);
    assert!(doctor.out.contains("twitch: complete; not every checksum is known"), "{}", doctor.out);
}

#[test]
fn fetch_downloads_and_then_finds_the_files() {
    let Some(folder) = data_dir("fetch_downloads_and_then_finds_the_files") else { return };
    let lab = Lab::new();
    let local = lab.call(&["fetch", "cora", "--data-dir", "copied", "--from", &folder.to_string_lossy()]);
    assert!(local.status == 0 && lab.path("copied/cora/ind.cora.graph").is_file(), "{}", local.err);
    let mirror = serve(Some(folder), b"", 8);
    let first = lab.call(&["fetch", "cora", "--data-dir", "data", "--mirror", &mirror]);
    assert_eq!(first.status, 0, "{}", first.err);
    let second = lab.call(&["fetch", "cora", "--data-dir", "data", "--mirror", &mirror]);
    assert_eq!(second.out.matches("already there").count(), 8, "{}", second.out);
    lab.write("c.toml", "[ingest]\ndataset = \"cora\"\n[privatize.links]\nepsilon = 4\n");
    let run = lab.call(&["run", "c.toml", "--data-dir", "data", "--until", "ingest"]);
    assert_eq!(run.status, 0, "{}", run.err);
}

/// Whoever reads no messages stops no run.
#[test]
fn a_run_goes_on_where_nobody_reads_its_messages() {
    let lab = Lab::tiny();
    let mut command = lab.command(&["run", "config.toml", "--until", "ingest"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let status = command.stderr(full).stdout(std::process::Stdio::null()).status().expect("starts");
    assert!(status.success() && lab.has_entries());
}

/// A graph is one, whether row blocks, one task or the config itself made it.
#[test]
fn a_model_is_applied_to_every_graph_that_networks_train_on() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let model = "artifacts/simulation/runs/tiny/train/trial-0/model.safetensors";
    let predicted = |to: &str, set: &str| {
        let answer = lab.call(&["predict", model, "config.toml", "--to", to, "--set", set]);
        assert_eq!(answer.status, 0, "{set}: {}", answer.err);
        let mut files: Vec<_> =
            fs::read_dir(lab.path(to)).expect("a folder").flatten().map(|item| item.path()).collect();
        files.sort();
        files.iter().map(|file| fs::read_to_string(file).expect("a table")).collect::<Vec<_>>()
    };
    let whole = predicted("whole", "trials=2");
    assert_eq!(whole.len(), 2, "a graph for each trial");
    assert_eq!(predicted("blocks", "privatize.links.row_blocks=3"), whole);
    assert_eq!(predicted("public", "privatize.links.mechanism=public").len(), 2);
    // Features of another scale would be answered as well, and wrongly.
    fs::copy(lab.path(model), lab.path("copy.safetensors")).expect("a copy");
    for model in [model, "copy.safetensors"] {
        let scaled =
            lab.call(&["predict", model, "config.toml", "--to", "scaled", "--set", "ingest.normalize=min-max"]);
        assert!(
            scaled.status == 1 && scaled.err.contains("with normalize = \"row\" and binarize = false below [ingest]"),
            "{model}: {}",
            scaled.err
        );
    }
    // Behind its length and the header that says where tensors lie, a file of safetensors holds numbers alone.
    let mut bytes = fs::read(lab.path(model)).expect("a model");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    bytes[8 + length..].chunks_exact_mut(4).for_each(|number| number.copy_from_slice(&f32::NAN.to_le_bytes()));
    fs::write(lab.path("broken.safetensors"), bytes).expect("written");
    let answer = lab.call(&["predict", "broken.safetensors", "config.toml", "--to", "broken"]);
    assert!(answer.status == 1 && answer.err.contains("no finite number"), "{}", answer.err);
    assert!(!lab.path("broken").exists());
}

/// The scores of a long run are printed also where its names cannot be written.
#[test]
fn scores_are_printed_where_names_cannot_be_written() {
    let lab = Lab::tiny();
    lab.json(&["--until", "ingest"]);
    // A file of the user stands where the run has a folder.
    lab.write("artifacts/simulation/runs/tiny/train", "mine");
    let answer = lab.call(&["run", "config.toml"]);
    assert_eq!(answer.status, 1, "{}", answer.out);
    assert!(answer.out.contains("accuracy") && answer.err.contains("in the way"), "{} {}", answer.out, answer.err);
    assert_eq!(fs::read_to_string(lab.path("artifacts/simulation/runs/tiny/train")).expect("there"), "mine");
}

#[test]
fn a_name_that_no_folder_can_have_is_refused_before_anything_runs() {
    let lab = Lab::tiny();
    for (length, words) in [(199, "shorter names"), (250, "at most 200 letters")] {
        let long = "x".repeat(length);
        let config = format!("{}\n[[compare]]\nname = \"{long}\"\ntrain.epochs = 3\n", crate::support::TINY);
        lab.write("config.toml", config);
        // What is swept is a part of the name of a run as well.
        let swept = [
            "privatize.links.epsilon=[1.123456789012345, 2.123456789012345]",
            "privatize.links.degree_fraction=[0.1234567890123, 0.2345678901234]",
        ];
        let answer = lab.call(&["run", "config.toml", "--set", swept[0], "--set", swept[1]]);
        assert!(answer.status == 2 && answer.err.contains(words), "{}", answer.err);
    }
    assert!(!lab.has_entries());
}
