//! Tables as text: fields separated by commas, tabs, semicolons, bars or spaces.

use std::borrow::Cow;
use std::io::Read;

use super::super::arrays::ends_in;
use super::super::columns::{is_absent, is_unnamed, is_usual_name};
use super::{Row, Table};
use crate::error::Error;
use crate::raw::Files;

/// Reads a table of text. `header` says whether the first row holds column names; otherwise its words decide.
pub(super) fn read(files: &Files, file: &str, header: Option<bool>) -> Result<Table, Error> {
    let text = &files.text(file)?;
    if let Some(format) = other_format(text) {
        let remedy = "write it as a table: a file of links has one link per row (networkx: \
                      `nx.write_edgelist(graph, path, data=False)`)";
        return Err(Error::new(file, "", format!("this looks like {format}, not like a table"), remedy));
    }
    let text = &with_one_kind_of_comments(text);
    let without = without_attributes(text);
    let had_attributes = matches!(without, Cow::Owned(_));
    let had_numbers_in_braces = had_attributes && lines(text).any(|line| is_row(line) && has_number_in_braces(line));
    let text = &*without;
    if has_comments_below_a_row(text) {
        tracing::warn!(
            "{file}: lines below the first row begin with `#` and are not read, as comments; where they are rows, put their \
             first field in quotes"
        );
    }
    let mut rows = rows(file, text, separator(file, text))?;
    if rows.is_empty() {
        return Err(Error::new(file, "", "the file is empty", "give at least one row"));
    }
    let has_header = header.unwrap_or_else(|| looks_like_header(&rows));
    check_widths(file, &rows)?;
    let first_line = rows[0].0;
    let header = has_header.then(|| rows.remove(0).1);
    if rows.is_empty() {
        let problem = "below the names of its columns the file has no row";
        return Err(Error::new(
            file,
            "",
            problem,
            "give at least one, or write `header = false` if these are no names",
        ));
    }
    Ok(Table { file: file.to_owned(), header, first_line, rows, had_numbers_in_braces })
}

/// The text whose first lines, where they begin with `%` as in the files of KONECT, begin with `#`.
fn with_one_kind_of_comments(text: &str) -> Cow<'_, str> {
    let is_comment = |line: &&str| line.starts_with(['%', '#']) || line.trim().is_empty();
    let n_bytes: usize = text.split_inclusive('\n').take_while(is_comment).map(str::len).sum();
    let (head, rows) = text.split_at(n_bytes);
    if !head.contains('%') {
        return Cow::Borrowed(text);
    }
    let lines = head
        .split_inclusive('\n')
        .map(|line| line.strip_prefix('%').map_or_else(|| line.to_owned(), |rest| format!("#{rest}")));
    Cow::Owned(lines.chain([rows.to_owned()]).collect())
}

/// The first line that says something.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default()
}

/// Whether a line says something and is no comment.
fn is_row(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// The lines with their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['\n', '\r'])
}

/// Whether a comment stands where a row may be meant, such as a link of `#rust`.
fn has_comments_below_a_row(text: &str) -> bool {
    lines(text).skip_while(|line| !is_row(line)).any(|line| line.starts_with('#'))
}

/// The text without the attributes that networkx writes behind links, as in `1 2 {'weight': 4, 'color': 'red'}`. They are
/// cut only where every row has some: elsewhere, braces may be part of a name.
fn without_attributes(text: &str) -> Cow<'_, str> {
    let mut rows = lines(text).filter(|line| is_row(line)).peekable();
    if rows.peek().is_none() || rows.any(|line| start_of_attributes(line).is_none()) {
        return Cow::Borrowed(text);
    }
    let without = |line: &str| match start_of_attributes(line).filter(|_| is_row(line)) {
        Some(start) => [&line[..start], &line[line.trim_end().len()..]].concat(),
        None => line.to_owned(),
    };
    Cow::Owned(lines(text).map(without).collect())
}

/// Where the attributes at the end of a row begin, with the separator before them.
fn start_of_attributes(line: &str) -> Option<usize> {
    let (before, inside) = line.trim_end().strip_suffix('}')?.split_once('{')?;
    let is_list = inside.trim().is_empty() || inside.contains(':');
    let ends = before.strip_suffix(SEPARATORS)?;
    is_list.then_some(ends.len())
}

/// Whether an attribute at the end of a row is a number.
fn has_number_in_braces(line: &str) -> bool {
    let inside = line.rsplit_once('{').map_or("", |(_, inside)| inside.trim_end().trim_end_matches('}'));
    let values = inside.split(',').filter_map(|attribute| attribute.split_once(':'));
    values.into_iter().any(|(_, value)| value.trim().parse::<f64>().is_ok())
}

/// What may stand between two fields.
const SEPARATORS: [char; 5] = [',', '\t', ';', '|', ' '];

/// What separates the fields: what gives the first rows equally many.
///
/// Where several do, a tab does, because names seldom have one; else what comes first in a row, because decimals and names
/// may have commas; and a space only where nothing else does.
fn separator(file: &str, text: &str) -> char {
    let first = first_line(text);
    if first.contains('\t') && ends_in(file, ".tsv") {
        return '\t';
    }
    let rank = |separator: char| match separator {
        '\t' => 0,
        ' ' => 2,
        _ => 1,
    };
    let fitting = SEPARATORS
        .into_iter()
        .filter_map(|separator| Some((rank(separator), length_of_first_field(text, separator)?, separator)));
    let occurring = || SEPARATORS.into_iter().find(|&separator| first.contains(separator));
    fitting.min().map(|(.., separator)| separator).or_else(occurring).unwrap_or(',')
}

/// The length of the first field, if this separator gives the first rows equally many fields, and at least two.
fn length_of_first_field(text: &str, separator: char) -> Option<usize> {
    const LOOKED_AT: usize = 100;
    let mut reader = reader(text.as_bytes(), separator);
    let rows = reader.records().map_while(Result::ok).map(|record| fields(&record, separator));
    let rows: Vec<Vec<String>> = rows.filter(|fields| !is_blank(fields)).take(LOOKED_AT).collect();
    let first = rows.first().filter(|first| first.len() >= 2)?;
    // In `1,<tab>2` the tab only follows what separates.
    let follows = |row: &Vec<String>| row[..row.len() - 1].iter().all(|field| field.ends_with([',', ';', '|']));
    if separator == '\t' && rows.iter().all(|row| row.len() >= 2 && follows(row)) {
        return None;
    }
    rows.iter().all(|row| row.len() == first.len()).then(|| first[0].len())
}

fn reader<R: Read>(text: R, separator: char) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator as u8)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text)
}

/// The fields of a row. Several spaces are one separator.
fn fields(record: &csv::StringRecord, separator: char) -> Vec<String> {
    record.iter().filter(|field| separator != ' ' || !field.is_empty()).map(str::to_owned).collect()
}

fn is_blank(fields: &[String]) -> bool {
    fields.is_empty() || (fields.len() == 1 && fields[0].is_empty())
}

fn rows(file: &str, text: &str, separator: char) -> Result<Vec<Row>, Error> {
    /// A row behind the last one. The reader takes the end of a file for the end of a quote that is still open; this row is then a
    /// part of the last one that it finds.
    const END: &str = "\u{4}";
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            Error::new(file, format!("line {line}: "), "not a row of a table", "check quotes and separators")
        })?;
        let line = record.position().map_or(0, |position| line_of(text, position));
        Ok((line, fields(&record, separator)))
    };
    let says_something = |row: &Result<Row, Error>| !row.as_ref().is_ok_and(|(_, fields)| is_blank(fields));
    let text_and_end = text.as_bytes().chain("\n".as_bytes()).chain(END.as_bytes());
    let mut rows: Vec<Row> =
        reader(text_and_end, separator).records().map(row).filter(says_something).collect::<Result<_, _>>()?;
    match rows.pop() {
        Some((line, fields)) if fields != [END] => Err(Error::new(
            file,
            format!("line {line}: "),
            "a quote is opened in this row and never closed",
            "close it, or write a quote that belongs to a name twice, inside quotes",
        )),
        _ => Ok(rows),
    }
}

/// The line of the row that the reader found from `start` on; comments and empty lines may stand before it.
fn line_of(text: &str, start: &csv::Position) -> u64 {
    let mut rest = &text.as_bytes()[text.len().min(start.byte() as usize)..];
    let mut line = start.line();
    loop {
        let skipped = match rest.first() {
            Some(b'\r' | b'\n') => 1,
            Some(b'#') => rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len()),
            _ => return line,
        };
        line += u64::from(rest[0] == b'\n');
        rest = &rest[skipped..];
    }
}

fn check_widths(file: &str, rows: &[Row]) -> Result<(), Error> {
    let width = rows[0].1.len();
    let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != width) else { return Ok(()) };
    let problem = format!("{} fields where the first row has {width}", row.len());
    let remedy = if rows[1..].iter().all(|(_, row)| row.len() == width + 1) {
        "give every row the same fields; if the first field of each row is a row number, write the table without it \
         (pandas: `index=False`, R: `row.names = FALSE`)"
    } else {
        "give every row the same fields; a list of neighbours must be written as one link per row"
    };
    Err(Error::new(file, format!("line {line}: "), problem, remedy))
}

/// Whether the first row holds column names.
///
/// It does if its first column has no name, if it holds a usual name of a column, or if it is the only row that has no number
/// where all others have one. A word that comes again below, among the first two columns, is the name of a node.
fn looks_like_header(rows: &[Row]) -> bool {
    let (first, below) = (&rows[0].1, &rows[1..]);
    let comes_again =
        |word: &String| below.iter().any(|(_, row)| row.iter().take(2).any(|field| field.eq_ignore_ascii_case(word)));
    if first.first().is_some_and(|field| is_unnamed(field)) {
        return true;
    }
    let usual: Vec<&String> = first.iter().filter(|field| is_usual_name(field)).collect();
    let letters = usual.iter().filter(|word| word.len() == 1).count();
    if usual.len() > letters || letters > 1 {
        return !usual.into_iter().all(comes_again);
    }
    let is_number = |field: &String| field.parse::<f64>().is_ok();
    // Names of columns are all there, and none is a number. A single row below may lack a name in one place.
    let may_be_names = below.len() > 1 && !first.iter().any(|field| is_number(field) || is_absent(field));
    let tells = |at: usize| {
        (at == 0 || may_be_names)
            && !is_number(&first[at])
            && below.iter().all(|(_, row)| row.get(at).is_some_and(is_number))
    };
    !below.is_empty()
        && (0..first.len()).any(tells)
        && !first.iter().take(2).any(|field| !is_number(field) && comes_again(field))
}

/// The format of a text that is no table, by its beginning.
fn other_format(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let text = &text[text.find(first_line(text)).unwrap_or(0)..];
    let start: String = text.chars().take(200).collect::<String>().to_lowercase();
    let first = first_line(&start);
    let begins = |word: &str| start.starts_with(word);
    let joined: String = start.split_whitespace().collect();
    if begins("<?xml") || begins("<graphml") || begins("<gexf") || begins("<!doctype") {
        Some("XML (GraphML is read where the name of the file ends in `.graphml`)")
    } else if joined.starts_with("graph[") || (begins("creator") && joined.contains("graph[")) {
        Some("GML")
    } else if begins("*vertices") || begins("*network") {
        Some("Pajek")
    } else if ["graph", "digraph", "strict"].into_iter().any(begins) && first.trim_end().ends_with('{') {
        Some("DOT")
    } else if begins("%%matrixmarket") {
        Some("a Matrix Market file")
    } else if (begins("{") && text.ends_with('}')) || (begins("[") && text.ends_with(']')) {
        Some("JSON (whose name must end in `.json`, and which only features may be)")
    } else {
        None
    }
}
