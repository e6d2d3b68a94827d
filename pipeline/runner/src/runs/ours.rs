//! What this program made among the readable names of a config: nothing else there is removed or replaced.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path};

use veilgraph_store::is_key;

use super::{history, log};

/// Files that this program writes beside the links.
pub(super) const FILES: [&str; 4] = ["run.json", log::FILE, "scores.parquet", "scores.csv"];

/// Whether this program made what stands at the path `inside` in the folder `place` of readable names.
pub(super) fn is_ours(place: &Path, inside: &Path) -> bool {
    match fs::read_link(place.join(inside)) {
        Ok(target) => leads_to_an_entry(inside, &target),
        Err(_) => FILES.iter().any(|name| inside == Path::new(name)) || history::is_ours(inside),
    }
}

/// Whether a link is a readable name: `<stage>/<label>/<file>`, which leads up to its part (four folders) or to the store
/// (five), and from there down to the file of that name in an entry of that stage.
fn leads_to_an_entry(inside: &Path, target: &Path) -> bool {
    let n_up = target.components().take_while(|part| *part == Component::ParentDir).count();
    let down: Vec<&OsStr> = target.iter().skip(n_up).collect();
    let name: Vec<&OsStr> = inside.iter().collect();
    let ([stage, _, file], [.., of_stage, key, of_entry]) = (name.as_slice(), down.as_slice()) else { return false };
    let is_far_enough = matches!((n_up, down.len()), (4, 3) | (5, 3 | 4));
    is_far_enough && stage == of_stage && file == of_entry && is_key(Path::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readable_name_is_told_from_a_link_of_the_user() {
        let key = "0123456789abcdef0123456789abcdef";
        for (inside, target, is_ours) in [
            ("train/trial-0/model.parquet", "../../../../train/KEY/model.parquet", true),
            ("ingest/all/links.parquet", "../../../../../owner/ingest/KEY/links.parquet", true),
            // An entry of an earlier layout.
            ("train/trial-0/model.parquet", "../../../../../train/KEY/model.parquet", true),
            ("train/trial-0/best.parquet", "../../../../train/KEY/model.parquet", false),
            ("train/model.parquet", "../../../../train/KEY/model.parquet", false),
            ("train/trial-0/model.parquet", "../../../../train/backup/model.parquet", false),
            ("train/trial-0/model.parquet", "../../../../ingest/KEY/model.parquet", false),
            ("train/trial-0/model.parquet", "/data/train/KEY/model.parquet", false),
            ("notes", "../../../../../notes", false),
        ] {
            let target = target.replace("KEY", key);
            assert_eq!(leads_to_an_entry(Path::new(inside), Path::new(&target)), is_ours, "{inside} -> {target}");
        }
    }
}
