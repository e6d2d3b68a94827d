//! What killed processes leave.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::entry::{MANIFEST, Store, is_name_of_entry, names};
use crate::error::StoreError;
use crate::files;
use crate::manifest::Manifest;
use crate::places::{Part, is_key};

impl Store {
    /// Removes drafts and checkpoints that killed processes left and that were last written at least so long ago. Only
    /// folders that are named like a task are touched, and links and other files in them stay.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove_leftovers(&self, least_age: Duration) -> Result<(), StoreError> {
        let checkpoints = Part::ALL.iter().map(|part| self.part(*part).join("checkpoints"));
        let all = checkpoints.chain([self.root.join("tmp"), self.root.join("checkpoints")]);
        for all in all.filter(|folder| !folder.is_symlink()) {
            for name in names(&all)? {
                let is_of_task = name.rsplit_once('-').is_some_and(|(_, key)| is_key(Path::new(key)));
                let folder = all.join(&name);
                if is_of_task && !may_be_release(&folder) && folder.is_dir() && age(&folder) >= least_age {
                    files::remove_ours_if_there(&folder, &|inside: &Path| is_leftover(&folder, inside))?;
                }
            }
            // A folder that holds something else stays.
            let _ = fs::remove_dir(&all);
        }
        let parts = Part::ALL.iter().map(|part| self.part(*part));
        for folder in parts.chain([self.root.clone(), self.part(Part::Owner).join("drawn")]) {
            if folder.is_symlink() {
                continue;
            }
            for path in names(&folder)?.into_iter().map(|name| folder.join(name)).filter(|path| is_draft(path)) {
                if age(&path) >= least_age {
                    fs::remove_file(&path).map_err(|error| StoreError::io("remove", &path, error))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a draft holds a release that was drawn and not yet published: the next run finds it there. One whose manifest cannot be
/// read may be one.
fn may_be_release(draft: &Path) -> bool {
    let manifest = draft.join(Part::Owner.name()).join(MANIFEST);
    match fs::read(&manifest) {
        Ok(bytes) => serde_json::from_slice::<Manifest>(&bytes).map_or(true, |manifest| manifest.release.is_some()),
        Err(_) => manifest.symlink_metadata().is_ok(),
    }
}

/// Whether a draft or the checkpoints of a task have such a file: `<part>/<file>`, or a file by itself.
fn is_leftover(folder: &Path, inside: &Path) -> bool {
    let is_file = folder.join(inside).symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let is_of_draft = |part: &Part| inside.strip_prefix(part.name()).is_ok_and(is_name_of_entry);
    let is_checkpoint = folder.parent().is_some_and(|all| all.ends_with("checkpoints")) && inside.iter().count() == 1;
    is_file && (is_checkpoint || Part::ALL.iter().any(is_of_draft))
}

/// Whether a file is one that a killed process had not finished: `NAME.draft-PROCESS-NUMBER` of a file of a store.
fn is_draft(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_ours = ["layout", "ledger", ".key"].contains(&stem) || is_key(Path::new(stem));
    let ending = path.extension().and_then(|ending| ending.to_str()).and_then(|ending| ending.strip_prefix("draft-"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_mark = ending.is_some_and(|ending| ending.split('-').count() == 2 && ending.split('-').all(is_number));
    is_ours && has_mark && path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// The time since something was written into a folder or a file.
fn age(path: &Path) -> Duration {
    let written = path.metadata().and_then(|metadata| metadata.modified());
    written.ok().and_then(|written| SystemTime::now().duration_since(written).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::manifest::{LAYOUT_VERSION, Recipe, ReleaseRecord};

    /// A release that was drawn is found by the next run; other private files of a killed task hold what its owner may have removed.
    #[test]
    fn drafts_of_releases_stay_and_others_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let release = ReleaseRecord {
            population: "members".to_owned(),
            statement: "count: 1".to_owned(),
            number: 1,
            charged_as: "x".to_owned(),
            collected: false,
        };
        for (trial, release, is_readable, stays) in
            [(0, None, true, false), (1, Some(release), true, true), (2, None, false, true)]
        {
            let recipe = Recipe {
                layout: LAYOUT_VERSION,
                stage: "count".to_owned(),
                task: None,
                side: "owner".to_owned(),
                code: "c".to_owned(),
                dependencies: "d".to_owned(),
                params: serde_json::json!({}),
                seed: None,
                trial: Some(trial),
                inputs: BTreeMap::new(),
                deployment: true,
            };
            let draft = folder.path().join("tmp").join(format!("count-{}", recipe.key())).join(Part::Owner.name());
            fs::create_dir_all(&draft).expect("a draft");
            let (key, outputs, checksum) = (recipe.key(), BTreeMap::new(), String::new());
            let manifest = Manifest { key, recipe, outputs, is_release: false, release, checksum };
            let bytes = if is_readable { manifest.to_bytes() } else { b"{".to_vec() };
            fs::write(draft.join(MANIFEST), bytes).expect("written");
            fs::write(draft.join("links.parquet"), "private").expect("written");
            store.remove_leftovers(Duration::ZERO).expect("removed");
            assert_eq!(draft.join("links.parquet").exists(), stays, "trial {trial}");
        }
    }
}
