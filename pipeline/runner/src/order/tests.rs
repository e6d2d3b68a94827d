use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use veilgraph_contract::Draws;
use veilgraph_store::LAYOUT_VERSION;
use veilgraph_train::Device;

use super::*;
use crate::config::Config;
use crate::plan::Options;

fn order(code: &str) -> Order {
    let (_, dependencies) = build::digests("veilgraph-train");
    let recipe = Recipe {
        layout: LAYOUT_VERSION,
        stage: "train".to_owned(),
        task: Some("classify".to_owned()),
        side: "server".to_owned(),
        code: code.to_owned(),
        dependencies: dependencies.to_owned(),
        params: json!({"epochs": 3, "budget": "inf"}),
        seed: Some(1),
        trial: Some(2),
        inputs: BTreeMap::new(),
        deployment: false,
    };
    let inputs =
        vec![vec![Input { stage: "ingest".into(), key: "0".repeat(32), artifact: "labels".into() }], Vec::new()];
    let params = "epochs = 3\nbudget = inf\n".to_owned();
    Order {
        version: VERSION,
        recipe,
        label: "epsilon-inf".into(),
        params,
        inputs,
        seed: 1,
        trial: 2,
        checkpoint_seconds: 5,
    }
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(folder.path().join("store"));
    (folder, store)
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let (_folder, store) = store();
    let (code, _) = build::digests("veilgraph-train");
    let order = order(code);
    let key = order.recipe.key();
    assert!(Order::read(&store, None, &key).expect("an answer").is_none());
    order.write(&store, None).expect("written");
    let read = Order::read(&store, None, &key).expect("readable").expect("there");
    read.check().expect("this code");
    assert_eq!(read.recipe, order.recipe);
    let params = read.params().expect("parameters");
    assert_eq!(params["budget"].as_float(), Some(f64::INFINITY), "which JSON could not say");
    let error = read.slots(&store, None).map(|_| ()).expect_err("its input is not there").to_string();
    assert!(error.contains("the input `labels`"), "{error}");
    Order::remove(&store, None, &key);
    assert!(Order::read(&store, None, &key).expect("an answer").is_none());
}

#[test]
fn a_program_of_other_code_refuses_the_order() {
    let error = order("another").check().expect_err("refused").to_string();
    assert!(error.contains("another version of veilgraph"), "{error}");
}

/// Else an entry would be made of other parameters than its key says.
#[test]
fn an_order_with_other_parameters_is_refused() {
    let (code, _) = build::digests("veilgraph-train");
    let changes: [fn(&mut Order); 3] = [
        |order| order.params = "epochs = 4\nbudget = inf\n".to_owned(),
        |order| order.seed = 2,
        |order| order.trial = 3,
    ];
    for change in changes {
        let mut order = order(code);
        order.check().expect("as it was written");
        change(&mut order);
        let error = order.check().expect_err("refused").to_string();
        assert!(error.contains("asks for other parameters"), "{error}");
    }
}

#[test]
fn an_order_under_another_key_is_damaged() {
    let (_folder, store) = store();
    order("another").write(&store, None).expect("written");
    let other = "1".repeat(32);
    std::fs::rename(path(&store, &order("another").recipe.key()), path(&store, &other)).expect("renamed");
    let error = Order::read(&store, None, &other).expect_err("refused").to_string();
    assert!(error.contains("is damaged"), "{error}");
}

#[test]
fn only_old_orders_are_removed_and_nothing_else() {
    let (_folder, store) = store();
    order("another").write(&store, None).expect("written");
    let mine = folder(&store).join("notes.json");
    std::fs::write(&mine, "mine").expect("written");
    let key = order("another").recipe.key();
    remove_old(&store, Duration::from_hours(1)).expect("looked at");
    assert!(path(&store, &key).is_file(), "it is young");
    remove_old(&store, Duration::ZERO).expect("removed");
    assert!(!path(&store, &key).exists() && mine.is_file());
}

#[test]
fn a_worker_runs_no_task_of_the_owner() {
    let (code, _) = build::digests("veilgraph-train");
    let mut order = order(code);
    order.recipe.side = "owner".to_owned();
    let error = order.check().expect_err("refused").to_string();
    assert!(error.contains("workers are servers"), "{error}");
}

/// Trials share the entry of what is drawn once for all of them, so that whichever comes first must draw the same numbers.
#[test]
fn what_is_drawn_once_draws_the_same_in_every_trial() {
    let text = "trials = 3\nreferences = []\n[ingest]\nnormalize = \"none\"\n[ingest.synthetic]\nnodes = 50\n\
                [privatize.links]\nepsilon = 2\n[privatize.features]\nmechanism = \"multi-bit\"\nepsilon = 3\n";
    let config = Config::parse(Path::new("x.toml"), text.to_owned(), &[]).expect("valid");
    let options = Options { data_dir: None, published: None, until: None, device: Device::Cpu, spend: false };
    let tasks = crate::systems::plan(&config, &options).expect("planned");
    let trial_of = |task: &Task| Order::of(task, &order("").recipe, &[], 1, 5).expect("an order").trial;
    let of_last_trial: Vec<&Task> = tasks.iter().filter(|task| task.trial == Some(2)).collect();
    let (once, anew): (Vec<&Task>, Vec<&Task>) = of_last_trial
        .iter()
        .filter(|task| task.draws != Draws::Never)
        .partition(|task| task.draws != Draws::EveryTrial);
    assert!(!once.is_empty() && once.iter().all(|task| trial_of(task) == 0), "features are reported in each trial");
    assert!(!anew.is_empty() && anew.iter().all(|task| trial_of(task) == 2));
}
