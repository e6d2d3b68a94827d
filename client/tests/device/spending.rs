//! What leaves the device, and what it costs.

use std::thread;

use veilgraph_client::{PublicParameters, draw_from, encode};
use veilgraph_contract::StageRng;

use crate::home::{Home, PARAMETERS};

#[test]
fn the_first_line_says_what_leaves_and_what_it_costs() {
    let home = Home::new();
    let said = home.report("out.vgr", &["--budget", "1"]).succeeds();
    let first = said.lines().next().expect("a line");
    assert!(first.starts_with("a noisy list and a noisy degree leave this device as "), "{first}");
    assert!(first.contains("this report costs at most 1 nats per bit of your list and 2 per link"), "{first}");
    let shown = home.show("out.vgr").succeeds();
    for part in ["node: 5 of 200", "population: town; mechanism: blink; release: 1", "of 200 bits", "bytes of entropy"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!home.decoded("out.vgr").is_simulated());
}

#[test]
fn the_same_call_writes_the_same_bytes_and_costs_nothing() {
    let home = Home::new();
    home.report("a.vgr", &["--budget", "1"]).succeeds();
    home.report("a.vgr", &["--budget", "1"]).succeeds();
    home.write("links", "# other order\n17\n\n 3\r\n3\n");
    let said = home.report("b.vgr", &["--budget", "1", "--spend"]).succeeds();
    assert!(said.contains("sending the same bytes again costs nothing") && said.contains("counted once: 1"), "{said}");
    assert_eq!(home.bytes("a.vgr"), home.bytes("b.vgr"));
    assert_eq!(home.spent(), [1.0]);
}

#[test]
fn two_devices_draw_different_noise() {
    let (one, other) = (Home::new(), Home::new());
    one.report("out.vgr", &["--budget", "1"]).succeeds();
    other.report("out.vgr", &["--budget", "1"]).succeeds();
    assert_ne!(one.bytes("out.vgr"), other.bytes("out.vgr"));
}

#[test]
fn a_changed_list_is_paid_for_knowingly() {
    let home = Home::new();
    home.report("a.vgr", &["--budget", "1.5"]).succeeds();
    home.write("links", "3\n18\n");
    let refused = home.report("b.vgr", &["--budget", "2"]).fails();
    for part in ["its links have changed", "a further 1 nats", "2 with all", "(the budget is 2)", "add --spend"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let refused = home.report("b.vgr", &["--budget", "1.5", "--spend"]).fails();
    assert!(refused.contains("1 of 1.5 nats are spent") && refused.contains("nothing was drawn"), "{refused}");
    assert!(!home.exists("b.vgr"));
    assert_eq!(home.spent(), [1.0]);
    home.report("b.vgr", &["--budget", "2", "--spend"]).succeeds();
    assert_ne!(home.bytes("a.vgr"), home.bytes("b.vgr"));
    assert_eq!(home.spent(), [2.0]);
    home.report("c.vgr", &["--budget", "2"]).succeeds();
    assert_eq!(home.bytes("b.vgr"), home.bytes("c.vgr"));
    // The list as it was before is a change as well: its report was replaced.
    home.write("links", "3\n17\n");
    home.report("d.vgr", &["--budget", "2"]).fails();
}

#[test]
fn other_parameters_are_a_further_release() {
    let home = Home::new();
    home.report("a.vgr", &["--budget", "2"]).succeeds();
    home.write("parameters", &home.parameters().replace("release = 1", "release = 2"));
    home.report("b.vgr", &["--budget", "2"]).succeeds();
    home.write("parameters", &home.parameters().replace("epsilon_degree = 0.25", "epsilon_degree = 0.0"));
    let refused = home.report("c.vgr", &["--budget", "2"]).fails();
    assert!(refused.contains("costs 0.75 nats per bit of the list and exceeds the budget: 2 of 2 nats"), "{refused}");
    home.report("c.vgr", &["--budget", "2.75"]).succeeds();
    assert_eq!(home.spent(), [1.0, 1.0, 0.75]);
}

/// Another number of the release, another budget, or another name of the population is no way to report a changed list unasked.
#[test]
fn a_changed_list_is_refused_under_other_parameters_too() {
    let home = Home::new();
    home.report("a.vgr", &["--budget", "4"]).succeeds();
    home.write("links", "3\n18\n");
    home.write("parameters", &home.parameters().replace("release = 1", "release = 9"));
    let refused = home.report("b.vgr", &["--budget", "4"]).fails();
    assert!(refused.contains("its links have changed") && refused.contains("--spend"), "{refused}");
    assert_eq!(home.spent(), [1.0]);
    let parameters = home.parameters();
    home.write("parameters", &parameters.replace("town", "Town"));
    let refused = home.report("b.vgr", &["--budget", "4"]).fails();
    assert!(refused.contains("--spend") && refused.contains("a --state folder of its own"), "{refused}");
    home.write("parameters", &parameters);
    home.report("b.vgr", &["--budget", "4", "--spend"]).succeeds();
    assert_eq!(home.spent(), [1.0, 1.0]);
}

/// Ten reports of a tenth fit into one nat, although their sum in floating point may exceed it.
#[test]
fn decimals_add_up() {
    let home = Home::new();
    for release in 1..=11 {
        let text = PARAMETERS
            .replace("0.75", "0.1")
            .replace("0.25", "0")
            .replace("release = 1", &format!("release = {release}"));
        home.write("parameters", &text);
        let call = home.report(&format!("{release}.vgr"), &["--budget", "1"]);
        if release <= 10 {
            call.succeeds()
        } else {
            call.fails()
        };
    }
}

#[test]
fn one_folder_serves_one_node_and_one_kind_of_noise() {
    let home = Home::new();
    home.report("a.vgr", &["--budget", "9"]).succeeds();
    let refused = home.report_of(6, "b.vgr", &["--budget", "9"]).fails();
    assert!(refused.contains("has reported as node 5 of `town`, not as node 6"), "{refused}");
    let refused = home.report("b.vgr", &["--simulate-seed", "1"]).fails();
    assert!(refused.contains("holds real reports, and these do not mix"), "{refused}");
    let simulated = Home::new();
    simulated.report("a.vgr", &["--simulate-seed", "1"]).succeeds();
    let refused = simulated.report("b.vgr", &["--budget", "9"]).fails();
    assert!(refused.contains("holds simulated reports"), "{refused}");
}

#[test]
fn a_simulation_draws_what_the_stage_draws_and_says_so() {
    let home = Home::new();
    let call = home.report("a.vgr", &["--simulate-seed", "11", "--trial", "3"]);
    assert!(call.warned().contains("protects nothing"), "{}", call.warned());
    call.succeeds();
    let town = PublicParameters::from_text(&home.parameters()).expect("usable");
    let source = StageRng::new(11, "privatize", 3);
    assert_eq!(home.bytes("a.vgr"), encode(&draw_from(&source, &town, 5, &[3, 17]).expect("drawn"), &town));
    assert!(home.decoded("a.vgr").is_simulated());
    assert!(home.show("a.vgr").warned().contains("protects nothing"));
    home.report("b.vgr", &["--simulate-seed", "11", "--trial", "4"]).succeeds();
    assert_ne!(home.bytes("a.vgr"), home.bytes("b.vgr"));
    assert_eq!(home.spent(), [1.0, 1.0]);
}

/// Calls at once wait for one another, and one noise is drawn.
#[test]
fn calls_at_once_draw_once() {
    let home = Home::new();
    thread::scope(|scope| {
        for call in 0..8 {
            let home = &home;
            scope.spawn(move || home.report(&format!("{call}.vgr"), &["--budget", "1"]).succeeds());
        }
    });
    assert!((1..8).all(|call| home.bytes(&format!("{call}.vgr")) == home.bytes("0.vgr")));
    assert_eq!(home.spent(), [1.0]);
}
