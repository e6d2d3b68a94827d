//! `verify`: whether every file of the store is as it was written.

use anyhow::ensure;
use serde::Serialize;
use serde_json::json;
use veilgraph_runner::ledger::Ledger;
use veilgraph_runner::output;
use veilgraph_runner::task::STAGES;
use veilgraph_store::{Part, Store, StoreError, StoreKind};

/// An entry that is not as it was written.
#[derive(Serialize)]
struct Damaged {
    stage: String,
    key: String,
    /// What is wrong, with the file.
    problems: Vec<String>,
    /// Whether the next run makes it anew; a release of a deployment, or what was handed over, comes from a copy alone.
    can_be_made: bool,
}

/// Compares every file with its digest.
pub(crate) fn verify(store: &Store, remove: bool, as_json: bool) -> anyhow::Result<()> {
    if remove {
        refuse_foreign(store)?;
    }
    let _running = if remove { Some(store.lock_for_run()?) } else { None };
    let ledger = Ledger::open(store)?;
    let (mut files, mut elsewhere, mut damaged) = (0, 0, Vec::new());
    for (stage, key) in store.keys(&STAGES)? {
        let mut problems = Vec::new();
        match store.find(&stage, &key) {
            Ok(Some(entry)) => {
                for output in entry.manifest.outputs.values() {
                    match entry.check(output) {
                        Ok(_) => files += 1,
                        // A copy for the server has no private files; that is no damage.
                        Err(StoreError::Missing { .. }) if output.zone == "owner" || output.zone == "auditor" => {
                            elsewhere += 1;
                        }
                        Err(error) if is_damage(&error) => problems.push(error),
                        // The file may be as it was, and nobody can tell.
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            Ok(None) => {}
            Err(error) if is_damage(&error) => problems.push(error),
            Err(error) => return Err(error.into()),
        }
        let problems: Vec<String> = problems.iter().map(problem_of).collect();
        problems.iter().for_each(|problem| output::error_line(problem));
        if !problems.is_empty() {
            // Nobody can make a release of a deployment anew, nor a server what was handed over to it.
            let can_be_made = !cannot_be_made(store, &stage, &key);
            damaged.push(Damaged { stage, key, problems, can_be_made });
        }
    }
    ledger.reconcile()?;
    let gone = ledger.lost_releases()?;
    let folder_of = |key: &str| store.part(Part::Owner).join("privatize").join(key).display().to_string();
    for key in &gone.last {
        output::error_line(&format!(
            "{}: the ledger has this release of a deployment, its noise was drawn, and its folder is gone; restore it from a copy \
             of the store",
            folder_of(key)
        ));
    }
    for key in &gone.replaced {
        output::error_line(&format!(
            "{}: this release of a deployment is gone, and a later one took its place; only a run with \
             the data and the question of that time would ask for it",
            folder_of(key)
        ));
    }
    let (mended, lost): (Vec<&Damaged>, Vec<&Damaged>) = damaged.iter().partition(|entry| entry.can_be_made);
    for Damaged { stage, key, .. } in &lost {
        let what = if is_copy(store, stage, key) {
            "this is the server's copy of what its owner holds, and the next run mends it"
        } else if store.kind() == StoreKind::ServerAlone {
            "this was handed over, and no run here makes it anew; take it from the export again, or ask the owner for another one"
        } else {
            "this is a release of a deployment, which no run makes anew; restore it from a copy of the store (an export has its \
             reports, and not the owner's manifest)"
        };
        output::error_line(&format!("{stage} {key}: {what}"));
    }
    if remove {
        mended.iter().try_for_each(|entry| store.remove(&entry.stage, &entry.key))?;
    }
    let n_removed = if remove { mended.len() } else { 0 };
    if as_json {
        let document = json!({
            "files": files, "private_files_elsewhere": elsewhere, "damaged": damaged, "removed_entries": n_removed,
            "lost_releases": gone.last, "replaced_releases": gone.replaced,
        });
        output::data(&serde_json::to_string_pretty(&document)?);
    } else if remove {
        output::line(&format!("{files} files are as recorded; removed {n_removed} damaged entries"));
    } else {
        output::line(&format!("{files} files are as recorded, {elsewhere} private files are elsewhere"));
    }
    let n_gone = gone.last.len();
    if remove {
        ensure!(
            lost.is_empty() && n_gone == 0,
            "releases of deployments that are damaged or gone: {}",
            lost.len() + n_gone
        );
        return Ok(());
    }
    // Never advise to draw a release again: that would cost its budget once more.
    let n_copies = lost.iter().filter(|entry| is_copy(store, &entry.stage, &entry.key)).count();
    let from_a_copy = if store.kind() == StoreKind::ServerAlone {
        "take what was handed over from the export again, or ask the owner for another one"
    } else {
        "restore damaged releases of deployments from a copy of the store"
    };
    let mut remedies: Vec<String> = Vec::new();
    for (number, remedy) in [
        (n_copies, "the next run mends damaged copies for the server"),
        (lost.len() - n_copies, from_a_copy),
        (n_gone, "restore the folders of releases that are gone from a copy of the store"),
    ] {
        if number > 0 {
            remedies.push(format!("{remedy} ({number})"));
        }
    }
    if !mended.is_empty() {
        let other = if remedies.is_empty() { "" } else { "other " };
        remedies.push(format!(
            "`veilgraph verify --remove` removes {other}damaged entries, which the next run makes anew ({})",
            mended.len()
        ));
    }
    ensure!(remedies.is_empty(), "the store is not as it was recorded: {}", remedies.join("; "));
    Ok(())
}

/// What is wrong with a file. This command says itself what mends it.
fn problem_of(error: &StoreError) -> String {
    match error {
        StoreError::Corrupt { path, problem } => format!("{}: corrupt artifact ({problem})", path.display()),
        StoreError::Manifest { path, problem } => {
            format!("{}: not a manifest of this version ({problem})", path.display())
        }
        StoreError::Missing { path } => format!("{}: the artifact is missing", path.display()),
        other => other.to_string(),
    }
}

/// Whether a file is not what it was; other errors say nothing about it.
fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Corrupt { .. } | StoreError::Manifest { .. } | StoreError::Missing { .. })
}

/// Refuses to remove anything from a folder that this program did not make.
pub(super) fn refuse_foreign(store: &Store) -> anyhow::Result<()> {
    ensure!(
        store.is_ours(),
        "{}: there is no file `layout`, so this is no store of this program, and nothing was removed",
        store.root().display()
    );
    Ok(())
}

/// Whether an entry is the server's copy of what the owner of the same store holds.
fn is_copy(store: &Store, stage: &str, key: &str) -> bool {
    let is_held = store.kind() == StoreKind::Whole && store.part(Part::Owner).join(stage).exists();
    is_held && !store.part(Part::Owner).join(stage).join(key).exists()
}

/// Whether an entry is a release of a deployment, or was handed over to a server.
fn cannot_be_made(store: &Store, stage: &str, key: &str) -> bool {
    let is_among = |part: Part| store.part(part).join(stage).join(key).exists();
    let of_owner = stage == "privatize" && is_among(Part::Owner) && !is_among(Part::Simulation);
    let handed_over = ["ingest", "privatize"].contains(&stage) && is_among(Part::Server);
    of_owner || handed_over
}
