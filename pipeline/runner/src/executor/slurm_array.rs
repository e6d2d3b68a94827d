//! Tasks as job arrays of Slurm: scripts that whoever runs this submits.
//!
//! Which tasks follow depends on what the earlier ones write, so a plan goes in waves, at most one for each stage. Each
//! wave is an array, followed by a job that gives the same command again, which writes the next wave.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;

use super::{Executor, Handover, News, WorkerCommand};

/// The files of a wave, in the folder of the scripts.
const TASKS: &str = "tasks.txt";
const ARRAY: &str = "array.sh";
const CONTINUE: &str = "continue.sh";
const SUBMIT: &str = "submit.sh";

/// Job arrays of Slurm.
pub(super) struct SlurmArray {
    folder: PathBuf,
    /// Most jobs in an array.
    size: u32,
    command: WorkerCommand,
    keys: Mutex<Vec<String>>,
}

impl SlurmArray {
    /// Scripts in `folder`, which is made if it is not there.
    pub(super) fn new(folder: &Path, size: u32, command: WorkerCommand) -> anyhow::Result<Self> {
        let wrong = || format!("{}: cannot be the folder of the scripts", folder.display());
        fs::create_dir_all(folder).with_context(wrong)?;
        let folder = folder.canonicalize().with_context(wrong)?;
        // The wave that was submitted last is done: its list must not be taken for the next one.
        fs::write(folder.join(TASKS), "").with_context(wrong)?;
        Ok(Self { folder, size, command, keys: Mutex::default() })
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, text).with_context(|| format!("{}: cannot write the script", path.display()))
    }

    /// The script of one job of the array, which runs every `jobs`-th task.
    fn array(&self, tasks: usize) -> String {
        let jobs = tasks.min(self.size as usize);
        let folder = quote(&self.folder.display().to_string());
        let words = self.command.words("KEY");
        let words: Vec<String> =
            words.iter().map(|word| if word == "KEY" { "\"$key\"".into() } else { quote(word) }).collect();
        format!(
            "#!/bin/bash\n\
             #SBATCH --job-name=veilgraph\n\
             #SBATCH --array=1-{jobs}\n\
             # Partition, time, memory and cores: give them to sbatch, or as SBATCH_* variables.\n\
             export RAYON_NUM_THREADS=\"${{SLURM_CPUS_PER_TASK:-1}}\"\n\
             sed -n \"${{SLURM_ARRAY_TASK_ID}}~{jobs}p\" {folder}/{TASKS} | while read -r key; do\n    \
                 {} < /dev/null || exit 1\ndone\n",
            words.join(" ")
        )
    }
}

impl Executor for SlurmArray {
    fn send(&self, key: &str) -> anyhow::Result<Handover> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).push(key.to_owned());
        Ok(Handover::Queued)
    }

    fn next(&self, moment: Duration) -> Option<News> {
        std::thread::sleep(moment);
        None
    }

    fn width(&self) -> usize {
        1
    }

    fn finish(&self) -> anyhow::Result<Option<String>> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.is_empty() {
            return Ok(None);
        }
        let list = keys.iter().fold(String::new(), |mut list, key| {
            let _ = writeln!(list, "{key}");
            list
        });
        let folder = quote(&self.folder.display().to_string());
        let here = std::env::current_dir().context("the current folder is not known")?;
        let mut words: Vec<String> = std::env::args().map(|word| quote(&word)).collect();
        if let (Some(first), Ok(program)) = (words.first_mut(), std::env::current_exe()) {
            *first = quote(&program.display().to_string());
        }
        self.write(ARRAY, &self.array(keys.len()))?;
        self.write(
            CONTINUE,
            &format!(
                "#!/bin/bash\n\
                 #SBATCH --job-name=veilgraph-continue\n\
                 cd {} || exit 1\n\
                 {} || exit 1\n\
                 # Another wave, unless that was the last.\n\
                 if [ -s {folder}/{TASKS} ]; then bash {folder}/{SUBMIT}; fi\n",
                quote(&here.display().to_string()),
                words.join(" ")
            ),
        )?;
        self.write(
            SUBMIT,
            &format!(
                "#!/bin/bash\n\
                 # Submits a wave of tasks, and the job that goes on after it. A task that fails ends the chain.\n\
                 cd {folder} || exit 1\n\
                 array=$(sbatch --parsable {ARRAY}) || exit 1\n\
                 sbatch --dependency=\"afterok:${{array%%;*}}\" --kill-on-invalid-dep=yes {CONTINUE}\n"
            ),
        )?;
        // The list last: with it, the wave is whole.
        self.write(TASKS, &list)?;
        Ok(Some(format!(
            "{} tasks wait for Slurm: `bash {folder}/{SUBMIT}` submits them and, after them, this command again; it prints \
             the scores when nothing is left to do",
            keys.len()
        )))
    }
}

/// A word as a shell reads it.
fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
