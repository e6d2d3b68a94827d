//! The book's commands run, and print what it says.
//!
//! In the pages below, a block `sh` is run in one folder after the blocks before it, and a block `text` behind it shows
//! lines of what it prints (`…` stands for any text). A block `toml` whose first line is `# name.toml` is that file, and
//! one without a name holds lines for a config, which has to be planned with them. A block below a line
//! `<!-- not run: REASON -->` is not run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Lab;

const PAGES: [&str; 5] =
    ["README.md", "docs/tutorial.md", "docs/how-to.md", "docs/deploy.md", "docs/choosing-epsilon.md"];

/// What the lines for a config are laid over.
const BASE: &str = "[privatize.links]\nepsilon = 2.0\n";

/// A block of code.
struct Block {
    language: String,
    text: String,
    line: usize,
    /// Whether a reason says why it is not run.
    is_left_out: bool,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn docs() -> PathBuf {
    repository().join("docs")
}

/// The reason that a line gives for not running the block below it.
fn reason(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- not run: ")?.strip_suffix(" -->").filter(|reason| reason.contains(' '))
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut is_inside, mut before) = (false, "");
    for (at, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), is_inside) {
            (Some(language), false) => {
                let (language, is_left_out) = (language.trim().to_owned(), reason(before).is_some());
                blocks.push(Block { language, text: String::new(), line: at + 1, is_left_out });
                is_inside = true;
            }
            (Some(_), true) => is_inside = false,
            (None, true) => {
                let block = blocks.last_mut().expect("a block has begun");
                block.text += line;
                block.text.push('\n');
            }
            (None, false) => {}
        }
        before = line;
    }
    assert!(!is_inside, "a block has no end");
    blocks
}

/// Whether `line` holds the parts of `wanted` between its marks `…`, in their order.
fn shows(line: &str, wanted: &str) -> bool {
    let mut rest = line;
    wanted.trim().split('…').all(|part| match rest.find(part.trim()) {
        Some(at) => {
            rest = &rest[at + part.trim().len()..];
            true
        }
        None => false,
    })
}

/// What a block prints in the folder of `lab`.
fn printed(lab: &Lab, block: &Block, place: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_veilgraph")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &block.text])
        .current_dir(lab.path("."))
        .env("PATH", path)
        .env_remove("VEILGRAPH_STORE")
        .env_remove("DATA_DIR")
        .env_remove("PUBLISHED")
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{place}: {}\n{said}", block.text);
    said
}

/// Plans a config with the lines of a block.
fn planned(lab: &Lab, block: &Block, place: &str) {
    lab.write("base.toml", BASE);
    lab.write("lines.toml", format!("extends = \"base.toml\"\n{}", block.text));
    let answer = lab.call(&["--quiet", "plan", "lines.toml"]);
    assert_eq!(answer.status, 0, "{place}: {}", answer.err);
}

#[test]
fn the_commands_of_the_book_run_and_print_what_it_says() {
    let client = Path::new(env!("CARGO_BIN_EXE_veilgraph")).with_file_name("veilgraph-client");
    assert!(client.is_file(), "{}: build it with `cargo build --release -p veilgraph-client`", client.display());
    for name in PAGES {
        let page = fs::read_to_string(repository().join(name)).expect(name);
        let (lab, mut said, mut n_commands, mut n_shown) = (Lab::new(), String::new(), 0, 0);
        for block in blocks(&page).into_iter().filter(|block| !block.is_left_out) {
            let place = format!("{name}, line {}", block.line);
            match block.language.as_str() {
                "sh" => {
                    said = printed(&lab, &block, &place);
                    n_commands += 1;
                }
                "text" => {
                    for wanted in block.text.lines().filter(|line| !["", "…"].contains(&line.trim())) {
                        assert!(said.lines().any(|line| shows(line, wanted)), "{place}: `{wanted}` is not in\n{said}");
                        n_shown += 1;
                    }
                }
                "toml" => {
                    let first = block.text.lines().next().unwrap_or_default();
                    let file = first.strip_prefix("# ").and_then(|first| first.split([',', ' ']).next());
                    match file.filter(|file| file.ends_with(".toml")) {
                        Some(file) => lab.write(file, &block.text),
                        None => planned(&lab, &block, &place),
                    }
                }
                // A drawing, and how to cite.
                "" | "bibtex" => {}
                other => panic!(
                    "{place}: blocks of `{other}` are not tested; use sh, text or toml, or say above the block why it is \
                     not run: <!-- not run: REASON -->"
                ),
            }
        }
        assert!(n_commands > 0 && n_shown > 0, "{name}: {n_commands} commands, {n_shown} lines shown");
    }
}

#[test]
fn a_block_is_left_out_for_a_reason() {
    let page = "<!-- not run: it takes hours -->\n```sh\na\n```\n<!-- not run: -->\n```sh\nb\n```\n";
    assert_eq!(blocks(page).iter().map(|block| block.is_left_out).collect::<Vec<_>>(), [true, false]);
}

/// Every page is in the book, and every page of the book is there.
#[test]
fn the_summary_names_every_page() {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).expect("the summary");
    let named: Vec<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(page, _)| page).collect();
    for page in &named {
        assert!(docs().join(page).is_file(), "SUMMARY.md names {page}");
    }
    for folder in ["", "benchmarks"] {
        for file in fs::read_dir(docs().join(folder)).expect("docs").flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let page = Path::new(folder).join(&name).display().to_string();
            let is_page = name.ends_with(".md") && name != "SUMMARY.md";
            assert!(!is_page || named.contains(&page.as_str()), "SUMMARY.md does not name {page}");
        }
    }
}
