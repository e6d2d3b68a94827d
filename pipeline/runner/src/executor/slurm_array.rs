//! Tasks as job arrays of Slurm: scripts that whoever runs this submits.
//!
//! Which tasks follow depends on what the earlier ones write, so a plan goes in waves. Each
//! wave is an array, followed by a job that gives the same command again, which writes the next wave.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use bytesize::ByteSize;
use veilgraph_store::{Store, is_key, write_private_file};

use super::{Executor, Handover, News, WorkerCommand};
use crate::output::quote;

/// The files of a wave, in the folder of the scripts.
const WAVE: &str = "wave";
const ARRAY: &str = "array.sh";
const CONTINUE: &str = "continue.sh";
const SUBMIT: &str = "submit.sh";
/// What the name of a list of tasks begins with.
const LIST: &str = "tasks-";

/// The second line of every script that this program writes, by which it knows its own.
const MARK: &str = "# Written by veilgraph, which replaces this file.";

/// What the line of a script begins with that says which experiments and which store its tasks are of.
const WHOSE: &str = "# Tasks of ";

/// The second lines of the scripts of earlier versions.
const MARKS_BEFORE: [&str; 3] = [
    "#SBATCH --job-name=veilgraph",
    "#SBATCH --job-name=veilgraph-continue",
    "# Submits a wave of tasks, and the job that goes on after it. A task that fails ends the chain.",
];

/// Job arrays of Slurm.
pub(super) struct SlurmArray {
    folder: PathBuf,
    /// Most jobs in an array.
    size: u32,
    /// Memory of a job; what the cluster gives, where nobody says.
    memory: Option<ByteSize>,
    command: WorkerCommand,
    /// Which experiments and which store the tasks are of.
    whose: String,
    keys: Mutex<BTreeSet<String>>,
}

impl SlurmArray {
    /// Scripts in `folder`, which is made if it is not there.
    pub(super) fn new(
        folder: &Path,
        size: u32,
        memory: Option<ByteSize>,
        command: WorkerCommand,
        store: &Store,
        experiments: &[String],
    ) -> anyhow::Result<Self> {
        let wrong = || format!("{}: cannot be the folder of the scripts", folder.display());
        fs::create_dir_all(folder).with_context(wrong)?;
        let folder = folder.canonicalize().with_context(wrong)?;
        let store = std::path::absolute(store.root())
            .with_context(|| format!("{}: cannot be the store", store.root().display()))?;
        let whose = format!("{} in {}", experiments.join(", "), quote(&store.display().to_string()));
        let array = Self { folder, size, memory, command, whose, keys: Mutex::default() };
        // A file in the way is found before anything runs.
        [ARRAY, CONTINUE, SUBMIT, WAVE].iter().try_for_each(|name| array.refuse_foreign(name))?;
        array.refuse_wave_of_others()?;
        Ok(array)
    }

    /// Whose tasks wait in the folder, where these are not the ones of this run. Scripts of earlier versions do not say it.
    fn others_that_wait(&self) -> Option<String> {
        if !self.folder.join(WAVE).exists() {
            return None;
        }
        let text = fs::read_to_string(self.folder.join(CONTINUE)).unwrap_or_default();
        let whose = text.lines().find_map(|line| line.strip_prefix(WHOSE))?;
        (whose != self.whose).then(|| whose.to_owned())
    }

    /// Refuses to replace the wave of other experiments, whose tasks nobody would submit then.
    fn refuse_wave_of_others(&self) -> anyhow::Result<()> {
        let Some(others) = self.others_that_wait() else { return Ok(()) };
        anyhow::bail!(
            "{}: tasks of other experiments wait there ({others}); if they were never submitted, submit them with `bash {}`, and in any \
             case wait until their last job has printed scores; or name another --array-folder, or give these tasks up by removing \
             the file `{WAVE}`",
            self.folder.display(),
            quote(&self.folder.join(SUBMIT).display().to_string())
        )
    }

    /// The script of the job that gives this command again.
    fn continuation(&self) -> anyhow::Result<String> {
        let folder = quote(&self.folder.display().to_string());
        let here = std::env::current_dir().context("the current folder is not known")?;
        let mut words: Vec<String> = std::env::args_os().map(|word| quote(&word.to_string_lossy())).collect();
        if let (Some(first), Ok(program)) = (words.first_mut(), std::env::current_exe()) {
            *first = quote(&program.display().to_string());
        }
        Ok(format!(
            "#!/bin/bash\n\
             {MARK}\n\
             #SBATCH --job-name=veilgraph-continue\n\
             {}{WHOSE}{}\n\
             cd {} || exit 1\n\
             {} || exit 1\n\
             # Another wave, unless that was the last.\n\
             if [ -e {folder}/{WAVE} ]; then bash {folder}/{SUBMIT} \"$@\"; fi\n",
            self.memory_line(),
            self.whose,
            quote(&here.display().to_string()),
            words.join(" ")
        ))
    }

    /// Refuses to replace a file of the user: a script of ours has its mark, and a wave names a list.
    fn refuse_foreign(&self, name: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
        let text = if metadata.is_file() { fs::read_to_string(&path).ok() } else { None };
        let is_ours = text.is_some_and(|text| match name {
            WAVE => text.starts_with(LIST) && text.lines().count() == 1,
            name if name.starts_with(LIST) => !text.is_empty() && text.lines().all(|line| is_key(Path::new(line))),
            _ => text.lines().nth(1).is_some_and(|line| line == MARK || MARKS_BEFORE.contains(&line)),
        });
        anyhow::ensure!(
            is_ours,
            "{}: this file is in the way and veilgraph did not write it; name a folder of its own with --array-folder",
            path.display()
        );
        Ok(())
    }

    /// The line of a script that asks for the memory of its job, in whole MiB; to Slurm, 0 would be the whole machine.
    fn memory_line(&self) -> String {
        let mebibytes = self.memory.map(|memory| memory.as_u64().div_ceil(1 << 20).max(1));
        mebibytes.map_or(String::new(), |mebibytes| format!("#SBATCH --mem={mebibytes}M\n"))
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        self.refuse_foreign(name)?;
        let path = self.folder.join(name);
        write_private_file(&path, text.as_bytes())
            .with_context(|| format!("{}: cannot write the script", path.display()))
    }

    /// The script of one job of the array, which runs every `jobs`-th task of a list.
    fn array(&self, list: &str, tasks: usize) -> String {
        let jobs = tasks.min(self.size as usize);
        let list = quote(&self.folder.join(list).display().to_string());
        let word = |word: &String| if word == "KEY" { "\"$key\"".to_owned() } else { quote(word) };
        let words: Vec<String> = self.command.words("KEY").iter().map(word).collect();
        let (command, threads, memory) = (words.join(" "), self.command.threads, self.memory_line());
        format!(
            "#!/bin/bash\n\
             {MARK}\n\
             #SBATCH --job-name=veilgraph\n\
             #SBATCH --array=1-{jobs}\n\
             #SBATCH --cpus-per-task={threads}\n\
             {memory}export RAYON_NUM_THREADS={threads}\n\
             sed -n \"${{SLURM_ARRAY_TASK_ID}}~{jobs}p\" {list} | while read -r key; do\n    \
                 {command} < /dev/null || exit 1\ndone\n"
        )
    }
}

impl Executor for SlurmArray {
    fn send(&self, key: &str) -> anyhow::Result<Handover> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
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
            // Nothing is left to submit.
            self.refuse_foreign(WAVE)?;
            if self.others_that_wait().is_none() {
                let _ = fs::remove_file(self.folder.join(WAVE));
            }
            return Ok(None);
        }
        // Another run may have written its wave while this one ran.
        self.refuse_wave_of_others()?;
        let text = keys.iter().fold(String::new(), |mut text, key| {
            let _ = writeln!(text, "{key}");
            text
        });
        // Jobs of an earlier wave that still wait read a list of their own.
        let list = format!("{LIST}{}.txt", &blake3::hash(text.as_bytes()).to_hex()[..12]);
        let folder = quote(&self.folder.display().to_string());
        self.write(&list, &text)?;
        self.write(ARRAY, &self.array(&list, keys.len()))?;
        self.write(CONTINUE, &self.continuation()?)?;
        self.write(
            SUBMIT,
            &format!(
                "#!/bin/bash\n\
                 {MARK}\n\
                 # Submits a wave of tasks, and the job that goes on after it. A task that fails ends the chain.\n\
                 # Options for sbatch, such as --partition and --time, are given to this script.\n\
                 cd {folder} || exit 1\n\
                 array=$(sbatch --parsable \"$@\" {ARRAY}) || exit 1\n\
                 sbatch --dependency=\"afterok:${{array%%;*}}\" --kill-on-invalid-dep=yes \"$@\" {CONTINUE} \"$@\"\n"
            ),
        )?;
        // This file last: with it, the wave is whole.
        self.write(WAVE, &list)?;
        Ok(Some(format!(
            "{} tasks wait for Slurm: `bash {folder}/{SUBMIT}` submits them and, after them, this command again; it prints \
             the scores when nothing is left to do",
            keys.len()
        )))
    }
}

#[cfg(test)]
mod tests;
