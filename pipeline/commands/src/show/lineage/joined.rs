//! The entries of a store, joined where one was made from what another one holds.

use std::collections::BTreeMap;

use serde::Serialize;
use veilgraph_runner::task::STAGES;
use veilgraph_store::{Entry, Readable, Store};

use super::{EntryName, Origin};

/// What an entry was made from: an artifact of another entry, or a file of the user. Neither where the artifact is no
/// longer in this store, or was handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Input {
    /// What the function calls it.
    pub name: String,
    /// Stage and key of the entry that holds it.
    pub stage: Option<String>,
    pub key: Option<String>,
    /// The file, as the config names it.
    pub file: Option<String>,
}

/// All entries of a store; the first one is asked about.
pub(super) struct Joined {
    entries: Vec<Entry>,
    /// The entries that hold an artifact, by the digest of the artifact.
    holders: BTreeMap<String, Vec<usize>>,
}

impl Joined {
    /// Joins the entries of a store. A damaged one is passed over with a warning.
    pub(super) fn of(store: &Store, root: Entry) -> anyhow::Result<Self> {
        let name = |entry: &Entry| (entry.manifest.recipe.stage.clone(), entry.manifest.key.clone());
        let root_name = name(&root);
        let mut entries = vec![root];
        let Readable { entries: others, damage } = store.readable(&STAGES)?;
        entries.extend(others.into_iter().filter(|entry| name(entry) != root_name));
        for error in damage {
            tracing::warn!("{error}");
        }
        let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            for output in entry.manifest.outputs.values() {
                holders.entry(entry.manifest.digest_of(output)).or_default().push(at);
            }
        }
        Ok(Self { entries, holders })
    }

    /// The entry that is asked about.
    pub(super) fn root(&self) -> &Entry {
        &self.entries[0]
    }

    /// The entries that were made from artifacts of the root.
    pub(super) fn readers(&self) -> Vec<EntryName> {
        let manifest = &self.root().manifest;
        let held: Vec<String> = manifest.outputs.values().map(|output| manifest.digest_of(output)).collect();
        let reads = |entry: &&Entry| {
            entry
                .manifest
                .recipe
                .inputs
                .values()
                .flatten()
                .any(|input| held.iter().any(|digest| digest == split(input).1))
        };
        let name =
            |entry: &Entry| EntryName { stage: entry.manifest.recipe.stage.clone(), key: entry.manifest.key.clone() };
        self.entries[1..].iter().filter(reads).map(name).collect()
    }

    /// The root, and everything that it was made from, each before what it was made from itself.
    pub(super) fn origins(&self) -> Vec<Origin> {
        let (mut waiting, mut known, mut origins) = (vec![0], vec![false; self.entries.len()], Vec::new());
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut known[at], true) {
                continue;
            }
            let (recipe, inputs) = (&self.entries[at].manifest.recipe, self.inputs(at));
            waiting.extend(inputs.iter().rev().filter_map(|(_, holder)| *holder));
            origins.push(Origin {
                stage: recipe.stage.clone(),
                key: self.entries[at].manifest.key.clone(),
                function: recipe.task.clone(),
                side: recipe.side.clone(),
                settings: recipe.params.clone(),
                seed: recipe.seed,
                trial: recipe.trial,
                code: recipe.code.clone(),
                dependencies: recipe.dependencies.clone(),
                inputs: inputs.into_iter().map(|(input, _)| input).collect(),
            });
        }
        origins
    }

    /// The inputs of an entry, and which entries hold them.
    fn inputs(&self, at: usize) -> Vec<(Input, Option<usize>)> {
        let recipe = &self.entries[at].manifest.recipe;
        let input = |slot: &str, recorded: &str| {
            let (file, digest) = split(recorded);
            // What was handed over is also held by the entry of the owner, which says more. Among others the youngest counts.
            let holders = self.holders.get(digest).into_iter().flatten().copied().filter(|holder| *holder != at);
            let holder = holders.min_by_key(|&holder| {
                let entry = &self.entries[holder];
                (entry.manifest.recipe.is_published(), entry.age())
            });
            let name = file.filter(|_| recipe.is_published()).unwrap_or(slot).to_owned();
            let is_file = holder.is_none() && !recipe.is_published();
            let manifest = holder.map(|holder| &self.entries[holder].manifest);
            let input = Input {
                name,
                stage: manifest.map(|manifest| manifest.recipe.stage.clone()),
                key: manifest.map(|manifest| manifest.key.clone()),
                file: file.filter(|_| is_file).map(str::to_owned),
            };
            (input, holder)
        };
        recipe.inputs.iter().flat_map(|(slot, all)| all.iter().map(move |recorded| input(slot, recorded))).collect()
    }
}

/// An input as a recipe has it: the digest of an artifact, behind the name of a file of the user or of what was handed over.
fn split(recorded: &str) -> (Option<&str>, &str) {
    recorded.rsplit_once(':').map_or((None, recorded), |(name, digest)| (Some(name), digest))
}
