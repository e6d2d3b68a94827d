//! The page of `report`: its first sentence, its graphs, its names and its lines.

use std::collections::BTreeSet;
use std::fs;

use crate::support::Lab;

/// Runs `config.toml` and writes its page; the text of the page.
fn page(lab: &Lab, sets: &[&str]) -> String {
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
    lab.json(&sets);
    let answer = lab.call(&[&["report", "config.toml"], &sets[..]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    fs::read_to_string(lab.path(answer.out.trim())).expect("the page")
}

/// A file of a figure of the page of the tiny experiment.
fn figure(lab: &Lab, name: &str) -> String {
    let path = lab.path(&format!("artifacts/auditor/reports/tiny/{name}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a drawing as SVG, each with its name as a reader sees it.
fn named_lines(svg: &str) -> Vec<(&str, &str)> {
    let named = |line| {
        let (_, name) = str::split_once(line, "class=\"name\"")?;
        let name = name.split_once('>')?.1.split('<').next()?;
        Some((name, line))
    };
    svg.split("<g class=\"series\"").skip(1).filter_map(named).collect()
}

const REFERENCES: &str = "references=[\"no-links\", \"non-private\"]";

/// The first thing to read says what the budget buys, what it costs and what an attacker learns, for who reads no further.
#[test]
fn the_first_sentence_says_gain_cost_and_what_is_learned() {
    let page = page(&Lab::tiny(), &["privatize.links.epsilon=[2, 6]", REFERENCES]);
    let (_, rest) = page.split_once("<p class=\"answer\">").expect("an answer");
    let (first, _) = rest.split_once("</p>").expect("its end");
    for words in [
        "nats per list bit, “blink” is right for",
        "points beside the best that needs no link",
        "nats per undirected link, by which the reports can multiply the odds of a link",
        "an attacker learns at least what the server knows by its graph of highest F1: ",
    ] {
        assert!(first.contains(words), "`{words}` is not in: {first}");
    }
}

/// Whoever draws the graph again can compare it: the digest is that of the file alone, and does not depend on the store.
#[test]
fn a_page_says_what_its_graph_is() {
    let of = |sets: &[&str]| {
        let page = page(&Lab::tiny(), sets);
        for heading in ["nodes", "links", "mean degree", "density", "homophily", "classes", "training", "test"] {
            assert!(page.contains(&format!("<th scope=\"col\">{heading}</th>")), "{heading}");
        }
        assert!(page.contains("<th scope=\"row\">synthetic</th><td>120</td>"), "the nodes of the graph");
        let (_, digest) =
            page.split_once("drawn from its parameters and seed; links.parquet (SHA-256 ").expect("a digest");
        digest[..64].to_owned()
    };
    let (one, same, other) = (of(&[]), of(&[]), of(&["ingest.synthetic.seed=7"]));
    assert!(one.chars().all(|letter| letter.is_ascii_hexdigit()), "{one}");
    assert_eq!(one, same, "another store, and the same graph");
    assert_ne!(one, other, "another graph");
}

/// A budget without bound is no point that nothing shows, and no second line of one name.
#[test]
fn a_budget_without_bound_is_one_ceiling() {
    let lab = Lab::tiny();
    let page = page(&lab, &["privatize.links.epsilon=[2, inf]", REFERENCES]);
    let csv = figure(&lab, "synthetic-accuracy-gcn.csv");
    let (ends, finite): (Vec<&str>, Vec<&str>) =
        csv.lines().skip(1).filter(|line| line.contains(",blink,")).partition(|line| line.contains(",inf,"));
    assert!(ends.len() == 1 && ends[0].starts_with("blink hybrid without noise,"), "{csv}");
    assert!(finite.len() == 1 && finite[0].starts_with("blink hybrid,"), "{csv}");
    let svg = figure(&lab, "synthetic-accuracy-gcn.svg");
    let names: Vec<&str> = named_lines(&svg).into_iter().map(|(name, _)| name).collect();
    let ceilings = names.iter().filter(|name| name.ends_with("(ceiling)")).count();
    assert_eq!(ceilings, 1, "the graph without noise is the true one, and has one mark: {names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    let (_, table) = page.split_once("accuracy % over epsilon").expect("the table of accuracies");
    let (table, _) = table.split_once("</table>").expect("its end");
    assert_eq!(table.matches("<th scope=\"row\">blink").count(), 1, "one line in {table}");
}

/// In every figure a floor or a ceiling is dashed and has no colour of its own, and its name says what it is.
#[test]
fn floors_and_ceilings_look_alike_in_every_figure() {
    let lab = Lab::tiny();
    page(&lab, &[REFERENCES, "audit.attacks=linkteller", "audit.targets=40"]);
    for name in ["accuracy-gcn", "attack-auc-linkteller-all-gcn", "roc-linkteller-all-gcn-epsilon-6"] {
        let svg = figure(&lab, &format!("synthetic-{name}.svg"));
        let lines = named_lines(&svg);
        let is_reference = |name: &str| ["(floor)", "(ceiling)", "the most "].iter().any(|word| name.contains(word));
        assert!(lines.iter().any(|(name, _)| name.ends_with("(ceiling)")), "{name}: {svg}");
        for (line, svg) in lines {
            assert_eq!(svg.contains("stroke-dasharray"), is_reference(line), "{name}, {line}");
            assert_eq!(svg.contains("fill=\"#696969\""), is_reference(line), "{name}, {line}");
        }
    }
}

/// Two names that differ in the middle alone were cut to one.
#[test]
fn long_names_of_lines_stay_different_and_are_kept_whole() {
    let lab = Lab::tiny();
    let name =
        |variant: &str| format!("an-estimator-that-is-called-at-great-length-with-a-{variant}-graph-of-likely-links");
    let compared =
        |variant: &str| format!("[[compare]]\nname = \"{}\"\nconstruct.variant = \"{variant}\"\n", name(variant));
    let tiny = crate::support::TINY.replace("[construct]\nvariant = \"hybrid\"\n", "");
    lab.write("config.toml", [tiny, compared("hard"), compared("hybrid")].concat());
    let page = page(&lab, &["privatize.links.epsilon=[1, 3]"]);
    let svg = figure(&lab, "synthetic-accuracy-gcn.svg");
    let names: Vec<&str> = named_lines(&svg).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.iter().filter(|name| name.contains('…')).count(), 2, "both are too long: {names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    assert!(names.iter().all(|name| name.chars().count() <= 46), "{names:?}");
    for variant in ["hard", "hybrid"] {
        assert!(svg.contains(&format!("<title>{}", name(variant))), "the whole name stands in the drawing");
        assert!(page.contains(&name(variant)), "and on the page");
    }
}

#[test]
fn a_page_of_a_simulation_was_made_by_one_code() {
    let page = page(&Lab::tiny(), &[]);
    assert!(page.contains("it was made by the same code") && !page.contains("by other code"));
}
