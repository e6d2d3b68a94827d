use std::path::Path;

use veilgraph_contract::{Arity, NoParams, Slot, Zone};
use veilgraph_estimate::{Estimate, GroupAtRandom};
use veilgraph_ingest::Ingest;
use veilgraph_train::Device;

use super::branch::Made;
use super::*;

const OPTIONS: Options = Options { data_dir: None, published: None, until: None, device: Device::Cpu, spend: false };

fn config(text: &str) -> Config {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.toml");
    std::fs::write(&path, text).expect("written");
    Config::load(Path::new(&path), &[]).expect("valid")
}

fn ingested(plan: &mut Plan) -> Branch {
    plan.run::<Ingest>(&[&Branch::default()], &veilgraph_ingest::Params::default(), Run::default()).expect("planned")
}

fn refused(result: Result<Branch, ConfigError>) -> String {
    result.err().expect("a mistake in the wiring").0
}

#[test]
fn a_slot_that_nobody_fills_is_named() {
    let config = config("");
    let mut plan = Plan::new(&config, &OPTIONS);
    let error = refused(plan.run::<GroupAtRandom>(&[&Branch::default()], &NoParams {}, Run::default()));
    for part in ["estimate group-at-random", "`nodes` of the zone public", "which nothing makes", "systems"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn two_makers_of_one_artifact_are_refused_unless_the_second_reads_the_first() {
    let config = config("");
    let mut plan = Plan::new(&config, &OPTIONS);
    let data = ingested(&mut plan);
    let once = plan.run::<GroupAtRandom>(&[&data], &NoParams {}, Run::default()).expect("one maker");
    let error = refused(plan.run::<GroupAtRandom>(&[&once], &NoParams {}, Run::default()));
    assert!(
        error.contains("`groups`, which another stage function") && error.contains("drop that one first"),
        "{error}"
    );
    plan.run::<GroupAtRandom>(&[&once.without(&["groups"])], &NoParams {}, Run::default()).expect("dropped first");
}

#[test]
fn equal_tasks_are_one_and_bear_all_names() {
    let config = config("");
    let mut plan = Plan::new(&config, &OPTIONS);
    let data = ingested(&mut plan);
    let run = |plan: &mut Plan, step| plan.run::<GroupAtRandom>(&[&data], &NoParams {}, Run { step, ..Run::default() });
    run(&mut plan, "first").expect("planned");
    run(&mut plan, "second").expect("planned");
    let tasks = plan.finish(&config, &KnownFields::default()).expect("no table");
    assert_eq!(tasks.len(), 2, "the ingest, and one task for both");
    assert_eq!(tasks[1].labels, ["first", "second"]);
}

#[test]
fn what_is_absent_adds_no_task_and_makes_what_follows_absent() {
    let config = config("");
    let mut plan = Plan::new(&config, &OPTIONS);
    let mut branch = ingested(&mut plan);
    let slot = |artifact, zone| Slot { artifact, zone, arity: Arity::One };
    for artifact in ["link_evidence", "noisy_degrees"] {
        branch.set(slot(artifact, Zone::Server), Made::Not(Absence::NotInTheData));
    }
    let params = toml::from_str("").expect("defaults");
    let branch = plan.run::<Estimate>(&[&branch], &params, Run::default()).expect("planned");
    assert!(!branch.has_named("link_model", Zone::Server));
    assert_eq!(plan.finish(&config, &KnownFields::default()).expect("no table").len(), 1, "the ingest alone");
}

/// Owner data never fit into a slot for what the server may see.
#[test]
fn slots_are_bound_by_name_and_zone() {
    let config = config("");
    let mut plan = Plan::new(&config, &OPTIONS);
    let data = ingested(&mut plan);
    assert!(
        data.has_named("features", Zone::Public) && data.has_named("features", Zone::Owner),
        "the plan knows both forms"
    );
    let mut withheld = data;
    withheld.absent("features", Zone::Public, Absence::Withheld);
    assert!(!withheld.has_named("features", Zone::Public) && withheld.has_named("features", Zone::Owner));
}
