use super::*;

const TEXT: &str = r#"
name = "x"
trials = 2

[ingest]
dataset = "synthetic"

[privatize.links]
epsilon = [1.0, 2]
degree_fraction = 0.1

[construct]
variant = ["hard", "soft"]

[train]
learning_rate = [0.1, 0.01]
"#;

fn config(text: &str, sets: &[&str]) -> Result<Config, ConfigError> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Config::parse(Path::new("x.toml"), text.to_owned(), &sets)
}

#[test]
fn lists_are_swept_and_labelled() {
    let config = config(TEXT, &[]).expect("valid");
    let cells = config.cells::<veilgraph_privatize::Params>("privatize.links", &config.privatize, &[]).expect("valid");
    let labels: Vec<_> = cells.iter().map(|cell| cell.label.join(",")).collect();
    assert_eq!(labels, ["epsilon-1", "epsilon-2"]);
    assert_eq!(cells[1].params.epsilon.nats(), 2.0);
    let grid = ["learning_rate", "weight_decay", "dropout"];
    let cells = config.cells::<veilgraph_train::Params>("train", &config.train, &grid).expect("valid");
    assert_eq!(cells.len(), 1, "a grid is one cell");
    assert_eq!(cells[0].params.settings().len(), 2);
}

#[test]
fn set_lays_values_over_the_file() {
    let config =
        config(TEXT, &["privatize.links.epsilon=inf", "construct.variant=hybrid", "ingest.synthetic.nodes=[10, 20]"])
            .expect("valid");
    let cells = config.cells::<veilgraph_privatize::Params>("privatize.links", &config.privatize, &[]).expect("valid");
    assert!(cells.len() == 1 && cells[0].params.epsilon.nats().is_infinite());
    let cells = config.cells::<veilgraph_ingest::Params>("ingest", &config.ingest, &[]).expect("valid");
    assert_eq!(cells.iter().map(|cell| cell.params.synthetic.nodes).collect::<Vec<_>>(), [10, 20]);
    assert_eq!(cells[0].label, ["nodes-10"]);
}

#[test]
fn a_mistake_is_named_with_its_line_and_the_nearest_name() {
    let error = |text: &str, sets: &[&str]| match config(text, sets) {
        Err(error) => error.to_string(),
        Ok(config) => {
            let ingest = config.cells::<veilgraph_ingest::Params>("ingest", &config.ingest, &[]).err();
            let privatize =
                config.cells::<veilgraph_privatize::Params>("privatize.links", &config.privatize, &[]).err();
            ingest.or(privatize).expect("it is valid").to_string()
        }
    };
    for (text, sets, words) in [
        (
            TEXT.replace("degree_fraction", "degree_fractoin"),
            vec![],
            vec!["x.toml:10", "did you mean `degree_fraction`"],
        ),
        (TEXT.replace("[1.0, 2]", "-1"), vec![], vec!["x.toml:9", "positive", "-1"]),
        (TEXT.replace("0.1\n", "1.5\n"), vec![], vec!["x.toml:10", "[0, 1]"]),
        (TEXT.replace("[ingest]", "[ingset]"), vec![], vec!["did you mean `ingest`"]),
        (TEXT.replace("\"x\"", "\"a/b\""), vec![], vec!["x.toml:2", "letters"]),
        (TEXT.replace("trials = 2", "trials = 0"), vec![], vec!["x.toml:3", "at least 1"]),
        (TEXT.replace("trials = 2", "trials = "), vec![], vec!["x.toml:3", "TOML"]),
        (TEXT.replace("synthetic", "corra"), vec![], vec!["x.toml:6", "did you mean `cora`"]),
        (TEXT.to_owned(), vec!["privatize.links.epsilon=0"], vec!["--set privatize.links.epsilon", "positive"]),
        (TEXT.to_owned(), vec!["nonsense"], vec!["--set nonsense", "table.key=value"]),
        (TEXT.to_owned(), vec!["privatize.links.epsilon=[]"], vec!["sweeps over nothing"]),
    ] {
        let found = error(&text, &sets);
        assert!(words.iter().all(|word| found.contains(word)), "{found} lacks one of {words:?}");
    }
}

/// Each name of a sweep stands for its own files.
#[test]
fn a_sweep_over_datasets_reads_each_of_them() {
    let swept = config(TEXT, &["ingest.dataset=[\"cora\", \"lastfm\", \"synthetic\"]"]).expect("valid");
    let cells = swept.cells::<veilgraph_ingest::Params>("ingest", &swept.ingest, &[]).expect("valid");
    let files: Vec<Vec<String>> = cells.iter().map(|cell| cell.params.files().expect("known")).collect();
    assert!(files[0].contains(&"ind.cora.graph".to_owned()), "{files:?}");
    assert!(!files[1].is_empty() && files[1] != files[0] && files[2].is_empty(), "{files:?}");
    let misspelt = config(TEXT, &["ingest.dataset=[\"cora\", \"coar\"]"]).expect("parsed");
    let error = misspelt.cells::<veilgraph_ingest::Params>("ingest", &misspelt.ingest, &[]).err().expect("unknown");
    assert!(error.to_string().contains("did you mean `cora`"), "{error}");
}
