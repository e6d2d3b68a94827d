//! The readable names of one part of the store, while they are gathered and written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use veilgraph_store::{Part, Store};

use super::history::{self, PastRun};
use super::{FailedTask, RanTask, RunRecord, log};
use crate::task::Task;

/// The names of one part while they are gathered.
#[derive(Default)]
pub(super) struct Names {
    pub record: RunRecord,
    /// Stage, label, name of the file, and the file.
    pub links: Vec<(String, String, String, PathBuf)>,
    /// Stages that ran, for the log.
    pub ran: Vec<RanTask>,
    /// Tasks that failed, beside the record of all others.
    pub failed: Vec<FailedTask>,
    /// The most memory that was seen while a task of the record ran, in bytes.
    pub peak_memory: Option<u64>,
}

impl Names {
    /// Notes a file under each label of its task.
    pub(super) fn add(&mut self, task: &Task, file: &str, path: &Path) {
        for label in &task.labels {
            self.links.push((task.stage.to_owned(), label.clone(), file.to_owned(), path.to_owned()));
        }
    }

    /// Writes links and record into `draft`, which will stand at `place`. With `config`, the text for the history, it also
    /// writes history and log: both say when somebody ran what.
    pub(super) fn write(
        self,
        mut record: RunRecord,
        config: Option<String>,
        store: &Store,
        part: Part,
        place: &Path,
        draft: &Path,
    ) -> anyhow::Result<()> {
        for (stage, label, file, path) in &self.links {
            let labelled = draft.join(stage).join(label);
            fs::create_dir_all(&labelled)?;
            // The label's folder lies four levels below its part, and five below the store.
            let to = match path.strip_prefix(store.part(part)) {
                Ok(inside) => Path::new("../../../..").join(inside),
                Err(_) => Path::new("../../../../..").join(path.strip_prefix(store.root())?),
            };
            link(&to, &labelled.join(file))?;
        }
        if let Some(config) = config {
            log::carry_on(place, draft, &self.ran, &self.failed)?;
            if self.record.all().next().is_some() || !self.failed.is_empty() {
                let (record, failed, peak_memory) = (self.record.clone(), self.failed, self.peak_memory);
                history::carry_on(place, draft, &PastRun { time: 0, config, record, failed, peak_memory })?;
            }
        }
        record.take_over(self.record);
        if record.all().next().is_some() {
            fs::write(draft.join("run.json"), serde_json::to_vec_pretty(&record)?)?;
        }
        Ok(())
    }
}

/// A readable name for a file. Two functions of a stage may write artifacts of one name under one label: the evidence of
/// paired reports, and the same evidence with bins. The name then leads to the file of the later function.
fn link(to: &Path, name: &Path) -> std::io::Result<()> {
    if name.is_symlink() {
        fs::remove_file(name)?;
    }
    symlink(to, name)
}
