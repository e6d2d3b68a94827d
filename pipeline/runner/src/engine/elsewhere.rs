//! Tasks of another side: their entries are taken as that side left them.

use std::sync::Arc;

use anyhow::Context;
use veilgraph_store::{Entry, StoreKind};

use super::{Engine, SideChoice};
use crate::ledger::statement;
use crate::task::{Done, Status, Task};

/// A statement with its numbers as a person writes them.
fn in_plain_numbers(statement: &str) -> String {
    let plain = |word: &str| {
        let number = word.strip_suffix(';').unwrap_or(word);
        match number.parse::<f64>() {
            Ok(value) => format!("{value}{}", &word[number.len()..]),
            Err(_) => word.to_owned(),
        }
    };
    statement.split(' ').map(plain).collect::<Vec<_>>().join(" ")
}

impl Engine<'_> {
    /// What the last run left of a task of another side.
    pub(super) fn recorded(&self, task: &Task) -> anyhow::Result<Done> {
        if task.side == "auditor" {
            return Ok(Done { status: Status::Elsewhere, entry: None });
        }
        let key = task.labels.iter().find_map(|label| self.record.key(task, label));
        let entry = key.map(|key| self.store.find(task.stage, key)).transpose()?.flatten();
        let name = &self.config.name;
        let entry = entry.with_context(|| match (self.side, self.store.kind()) {
            (SideChoice::Auditor, _) => format!(
                "the server has not run this stage for a config named `{name}`; copy its store to the folder `server` of this one"
            ),
            (_, StoreKind::ServerAlone) => {
                format!("nothing was handed over for a config named `{name}`; keep the `name` of the owner's config")
            }
            _ => format!(
                "the owner has not run this stage for a config named `{name}`; run it without --side server where the data are"
            ),
        })?;
        self.check_handed_over(task, &entry)?;
        Ok(Done { status: Status::Elsewhere, entry: Some(Arc::new(entry)) })
    }

    /// Refuses what the owner made under another config, or what the server must not have.
    fn check_handed_over(&self, task: &Task, entry: &Entry) -> anyhow::Result<()> {
        let recipe = &entry.manifest.recipe;
        if let Some(release) = &entry.manifest.release {
            let (made, asked_for) = (&release.statement, statement(task.function, &task.releases));
            anyhow::ensure!(
                recipe.task.is_none() || *made == asked_for,
                "what was handed over is another release than the one this config asks for (mechanism, noise, and epsilon with \
                 dp_delta under each relation: {}, and here {}); set [privatize] to what the owner's config says, because another \
                 release costs budget again",
                in_plain_numbers(made),
                in_plain_numbers(&asked_for)
            );
        } else {
            let (made, asked_for) = (&recipe.params, &task.canonical);
            anyhow::ensure!(
                recipe.task.is_none() || made == asked_for,
                "the owner ran this stage with {made} and this config asks for {asked_for}; set its fields to what the owner's \
                 config says, or run it again where the data are"
            );
        }
        for output in entry.manifest.outputs.values().filter(|_| !task.releases.is_empty() && !self.is_simulation) {
            entry.check(output)?;
            let path = entry.path(output);
            let metadata = veilgraph_store::metadata_of(&path)?;
            anyhow::ensure!(
                metadata.get("deployable").is_some_and(|value| value == "true"),
                "{}: this release is not deployable, so it must not be in a server's hands: its noise comes from a seed, does \
                 not protect as executed, or protects nothing. Add --simulation if server and owner are simulated on one \
                 machine",
                path.display()
            );
        }
        Ok(())
    }
}
