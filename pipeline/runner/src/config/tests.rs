use super::sweep::SweptCell;
use super::*;
use veilgraph_privatize::links::blink::Params as BlinkParams;

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

/// Cells of a table, and the fields that nobody reads.
fn cells<P: serde::Serialize + serde::de::DeserializeOwned>(
    config: &Config,
    table: &str,
    grid: &[&str],
) -> Result<(Vec<SweptCell<P>>, Vec<String>), ConfigError> {
    let resolve = |fields: Table| {
        if table != "ingest" {
            return Ok(fields);
        }
        crate::datasets::resolved(fields, None).map_err(|problem| config.error("ingest.dataset", &problem))
    };
    let (cells, unread) = config.cells(table, grid, resolve, |_| Ok(()))?;
    Ok((cells, unread))
}

fn labels<P>(cells: &[SweptCell<P>]) -> Vec<String> {
    let label = |cell: &SweptCell<P>| cell.choices.iter().map(sweep::SweptField::label).collect::<Vec<_>>().join(",");
    cells.iter().map(label).collect()
}

#[test]
fn lists_are_swept_and_labelled() {
    let config = config(TEXT, &[]).expect("valid");
    let (blink, unread) = cells::<BlinkParams>(&config, "privatize.links", &[]).expect("valid");
    assert_eq!(labels(&blink), ["epsilon-1", "epsilon-2"]);
    assert!(blink[1].params.epsilon.nats() == 2.0 && unread.is_empty());
    let grid = ["learning_rate", "weight_decay", "dropout"];
    let (cells, _) = cells::<veilgraph_train::Params>(&config, "train", &grid).expect("valid");
    assert_eq!(cells.len(), 1, "a grid is one cell");
    assert_eq!(cells[0].params.settings().len(), 2);
}

#[test]
fn set_lays_values_over_the_file() {
    let config =
        config(TEXT, &["privatize.links.epsilon=inf", "construct.variant=hybrid", "ingest.synthetic.nodes=[10, 20]"])
            .expect("valid");
    let (blink, _) = cells::<BlinkParams>(&config, "privatize.links", &[]).expect("valid");
    assert!(blink.len() == 1 && blink[0].params.epsilon.nats().is_infinite());
    let (cells, _) = cells::<veilgraph_ingest::Params>(&config, "ingest", &[]).expect("valid");
    assert_eq!(
        cells.iter().map(|cell| cell.params.synthetic.as_ref().map(|model| model.nodes)).collect::<Vec<_>>(),
        [Some(10), Some(20)]
    );
    assert_eq!(labels(&cells), ["nodes-10", "nodes-20"]);
}

#[test]
fn a_mistake_is_named_with_its_line_and_the_nearest_name() {
    let error = |text: &str, sets: &[&str]| match config(text, sets) {
        Err(error) => error.to_string(),
        Ok(config) => {
            let ingest = cells::<veilgraph_ingest::Params>(&config, "ingest", &[]).err();
            let privatize = cells::<BlinkParams>(&config, "privatize.links", &[]).err();
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
        (TEXT.replace("trials = 2", "trials = 0"), vec![], vec!["x.toml:3", "between 1 and"]),
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
    let (cells, _) = cells::<veilgraph_ingest::Params>(&swept, "ingest", &[]).expect("valid");
    let files: Vec<Vec<String>> = cells.iter().map(|cell| cell.params.files().expect("known")).collect();
    assert!(files[0].contains(&"ind.cora.graph".to_owned()), "{files:?}");
    assert!(!files[1].is_empty() && files[1] != files[0] && files[2].is_empty(), "{files:?}");
    let misspelt = config(TEXT, &["ingest.dataset=[\"cora\", \"coar\"]"]).expect("parsed");
    let resolve = |table| crate::datasets::resolved(table, None).map_err(ConfigError);
    let error = misspelt.cells::<veilgraph_ingest::Params>("ingest", &[], resolve, |_| Ok(())).expect_err("unknown");
    assert!(error.to_string().contains("did you mean `cora`"), "{error}");
}

/// What makes no difference to a cell is no choice of that cell, and equal cells are one.
#[test]
fn what_makes_no_difference_is_not_swept() {
    let config =
        config(TEXT, &["construct.variant=[\"hard\", \"hybrid\"]", "construct.edge_multiple=[1, 2]"]).expect("valid");
    let (cells, unread) = cells::<veilgraph_construct::Params>(&config, "construct", &[]).expect("valid");
    assert_eq!(labels(&cells), ["variant-hard", "variant-hybrid,edge_multiple-1", "variant-hybrid,edge_multiple-2"]);
    assert!(unread.is_empty(), "the hybrid graphs read edge_multiple");
    let config = self::config(TEXT, &["construct.variant=hard", "construct.edge_multiple=2"]).expect("valid");
    let (_, unread) = self::cells::<veilgraph_construct::Params>(&config, "construct", &[]).expect("valid");
    assert_eq!(unread, ["edge_multiple"], "a hard graph does not read it");
}

/// A label holds as much of a field's path as tells it from other swept fields.
#[test]
fn fields_of_one_name_are_told_apart() {
    let sets = ["ingest.synthetic.seed=[1, 2]", "ingest.split={train=0.5, validation=0.2, test=0.3, seed=[1, 2]}"];
    let config = config(TEXT, &sets).expect("valid");
    let (cells, _) = cells::<veilgraph_ingest::Params>(&config, "ingest", &[]).expect("valid");
    assert_eq!(labels(&cells)[1], "synthetic.seed-1,split.seed-2");
}
