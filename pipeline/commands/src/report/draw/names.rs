//! Names that have to fit beside a drawing.

/// The names, each in at most its number of letters. A longer name loses its middle; where two would then look alike, long
/// names lose what all of them share before that. Names that differ stay different.
pub(super) fn shortened(names: &[(&str, usize)]) -> Vec<String> {
    let is_long = |(name, most): &&(&str, usize)| name.chars().count() > *most;
    let long: Vec<&str> = names.iter().filter(is_long).map(|(name, _)| *name).collect();
    let whole: Vec<String> = names.iter().map(|(name, most)| cut(name, *most)).collect();
    if are_told_apart(names, &whole) {
        return whole;
    }
    let own = |named: &(&str, usize)| {
        let (name, most) = *named;
        if is_long(&named) { cut(&without_shared(name, &long), most) } else { name.to_owned() }
    };
    let own: Vec<String> = names.iter().map(own).collect();
    if are_told_apart(names, &own) {
        return own;
    }
    // What differs stands in the middle of names that are long all the same.
    let numbered = |(place, named): (usize, &(&str, usize))| {
        let (name, most) = *named;
        let number = format!(" #{}", place + 1);
        if is_long(&named) { cut(name, most.saturating_sub(number.len())) + &number } else { name.to_owned() }
    };
    names.iter().enumerate().map(numbered).collect()
}

/// Whether names that differ differ as they are shown.
fn are_told_apart(names: &[(&str, usize)], shown: &[String]) -> bool {
    let named: Vec<(&str, &String)> = names.iter().map(|(name, _)| *name).zip(shown).collect();
    let is_told = |(place, (name, shown)): (usize, &(&str, &String))| {
        named[..place].iter().all(|(other, other_shown)| other == name || other_shown != shown)
    };
    named.iter().enumerate().all(is_told)
}

/// The name without its middle where it has more letters than `most`.
fn cut(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let head = most / 2;
    let tail = most.saturating_sub(head + 1);
    let mut kept: String = letters[..head].iter().collect();
    kept.push('…');
    kept.extend(&letters[letters.len() - tail..]);
    kept
}

/// The name without the words with which all long names begin, and without those with which they end.
fn without_shared(name: &str, long: &[&str]) -> String {
    let all: Vec<Vec<&str>> = long.iter().map(|name| name.split(' ').collect()).collect();
    let shortest = all.iter().map(Vec::len).min().unwrap_or(0);
    let is_shared = |at: &usize| all.iter().all(|words| words[*at] == all[0][*at]);
    let before = (0..shortest).take_while(is_shared).count();
    let from_end = |words: &[&str], at: usize| words[words.len() - 1 - at].to_owned();
    let is_shared = |at: &usize| all.iter().all(|words| from_end(words, *at) == from_end(&all[0], *at));
    let after = (0..shortest - before).take_while(is_shared).count();
    let words: Vec<&str> = name.split(' ').collect();
    let own = words[before..words.len() - after].join(" ");
    let dots = |shared: usize| if shared > 0 { "…" } else { "" };
    format!("{}{own}{}", dots(before), dots(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each in at most twenty letters.
    fn in_twenty(names: &[&str]) -> Vec<String> {
        let names: Vec<(&str, usize)> = names.iter().map(|name| (*name, 20)).collect();
        shortened(&names)
    }

    #[test]
    fn a_name_that_fits_stays_and_a_long_one_loses_its_middle() {
        assert_eq!(in_twenty(&["blink", "blink, graph of likely links"]), ["blink", "blink, gra…ely links"]);
    }

    #[test]
    fn names_that_differ_in_the_middle_alone_stay_different() {
        let names =
            ["published estimator hard graph as it was reported", "published estimator soft graph as it was reported"];
        assert_eq!(in_twenty(&names), ["…hard…", "…soft…"]);
        let inside = |letter: &str| format!("a_name_without_a_space_{letter}_whose_middle_differs");
        let shown = in_twenty(&[&inside("x"), &inside("y"), "short"]);
        assert_eq!(shown, ["a_name_w…_differs #1", "a_name_w…_differs #2", "short"]);
    }

    #[test]
    fn no_name_has_more_letters_than_it_may() {
        let names = ["ε über ä long näme wîth ümlauts", "another name that is long", "another name that is so long"];
        assert!(in_twenty(&names).iter().all(|name| name.chars().count() <= 20));
    }
}
