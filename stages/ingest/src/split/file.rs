//! A file that says what each node is used for.

use std::collections::BTreeMap;

use veilgraph_graph::Split;

use crate::edges;
use crate::error::Error;
use crate::raw::Files;

/// Headings of the column that says what a node is used for.
const HEADINGS: [&str; 4] = ["split", "set", "subset", "use"];

/// Reads a word or a letter for each node in its order, or rows of a node and a word.
pub(super) fn read(path: &str, files: &Files, names: &[String]) -> Result<Vec<Split>, Error> {
    if !edges::is_text(path) {
        return by_name(path, files, names);
    }
    let text = &files.text(path)?;
    if is_in_order(text) { in_order(path, text, names.len()) } else { by_name(path, files, names) }
}

/// Whether a text names no nodes: it holds letters and words for splits alone, or one word in each line.
fn is_in_order(text: &str) -> bool {
    let says_use = |word: &str| of_word(word).is_some() || word.chars().all(|letter| of_letter(letter).is_some());
    let is_list = || text.lines().all(|line| line.split_whitespace().count() <= 1);
    !text.contains([',', '\t', ';', '|']) && (text.split_whitespace().all(says_use) || is_list())
}

fn in_order(path: &str, text: &str, n_nodes: usize) -> Result<Vec<Split>, Error> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.first().is_some_and(|word| HEADINGS.contains(&word.to_lowercase().as_str())) {
        words.remove(0);
    }
    let are_letters = words.iter().all(|word| word.chars().all(|letter| of_letter(letter).is_some()));
    let are_single = words.iter().all(|word| word.chars().count() == 1);
    if (are_letters && (words.len() != n_nodes || are_single)) || (words.len() == 1 && n_nodes > 1) {
        return letters(path, &words.concat(), n_nodes);
    }
    if words.len() != n_nodes {
        let problem = format!("{} words for {n_nodes} nodes", words.len());
        return Err(Error::new(path, "", problem, "give one word per node, or rows of `node,split`"));
    }
    let split = |(at, word): (usize, &&str)| known(path, format!("word {}: ", at + 1), word);
    words.iter().enumerate().map(split).collect()
}

/// Reads one letter for each node.
fn letters(path: &str, text: &str, n_nodes: usize) -> Result<Vec<Split>, Error> {
    let letters = text.chars().filter(|letter| !letter.is_whitespace()).enumerate();
    let split = |(node, letter): (usize, char)| {
        of_letter(letter).ok_or_else(|| {
            let problem = format!("`{letter}` is no split");
            Error::new(path, format!("letter {}: ", node + 1), problem, "use T, V, E or N, one letter per node")
        })
    };
    let splits: Vec<Split> = letters.map(split).collect::<Result<_, _>>()?;
    if splits.len() == n_nodes {
        Ok(splits)
    } else {
        let problem = format!("{} letters for {n_nodes} nodes", splits.len());
        Err(Error::new(path, "", problem, "give one letter per node"))
    }
}

/// Reads rows of a node and a word, separated as in other tables.
fn by_name(path: &str, files: &Files, names: &[String]) -> Result<Vec<Split>, Error> {
    let index: BTreeMap<&str, usize> = names.iter().enumerate().map(|(node, name)| (name.as_str(), node)).collect();
    let mut splits = vec![None; names.len()];
    let mut is_split_first = false;
    for (at, (place, row)) in edges::rows_of(files, path)?.into_iter().enumerate() {
        let [first, second] = row.as_slice() else {
            return Err(Error::new(path, place, format!("{} fields", row.len()), "write `node,split` rows"));
        };
        let is_heading = |field: &String| at == 0 && HEADINGS.contains(&field.to_lowercase().as_str());
        if is_heading(first) || is_heading(second) {
            is_split_first = !is_heading(second);
            continue;
        }
        let (name, word) = if is_split_first { (second, first) } else { (first, second) };
        let Some(&node) = index.get(name.as_str()) else {
            let problem = format!("node `{name}` is not in the graph");
            return Err(Error::new(path, place, problem, "use the names of the graph's files"));
        };
        let split = known(path, place.clone(), word)?;
        if splits[node].replace(split).is_some_and(|before| before != split) {
            return Err(Error::new(path, place, format!("node `{name}` is in two splits"), "splits must not overlap"));
        }
    }
    let n_left_out = splits.iter().filter(|split| split.is_none()).count();
    if n_left_out > 0 {
        tracing::warn!("{path}: {n_left_out} of {} nodes stand in no row and are used for nothing", names.len());
    }
    Ok(splits.into_iter().map(|split| split.unwrap_or(Split::None)).collect())
}

fn of_letter(letter: char) -> Option<Split> {
    match letter.to_ascii_uppercase() {
        'T' => Some(Split::Train),
        'V' => Some(Split::Validation),
        'E' => Some(Split::Test),
        'N' => Some(Split::None),
        _ => None,
    }
}

fn of_word(word: &str) -> Option<Split> {
    match word.to_lowercase().as_str() {
        "train" | "training" | "tr" | "t" => Some(Split::Train),
        "validation" | "validate" | "valid" | "val" | "va" | "v" | "dev" => Some(Split::Validation),
        "test" | "testing" | "te" | "e" => Some(Split::Test),
        "none" | "unused" | "n" | "" => Some(Split::None),
        _ => None,
    }
}

/// The split that a word at `place` means.
fn known(path: &str, place: String, word: &str) -> Result<Split, Error> {
    of_word(word).ok_or_else(|| {
        Error::new(path, place, format!("`{word}` is no split"), "use train, validation (val), test or none")
    })
}
