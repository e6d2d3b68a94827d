//! A file of claims with those that it includes: experiments, and what is claimed about their scores.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use toml::Spanned;
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::nearest::did_you_mean;

use super::claim::{Claim, ClaimTable, claims_of};
use crate::cli::ClaimsArguments;

/// How much is run before a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Few trials on small graphs: minutes.
    Quick,
    /// All graphs that claims are about, and fewer trials where a config has many: hours.
    Fixed,
    /// The configs as they are, with all of their trials and mechanisms: days.
    Full,
}

impl Mode {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Fixed => "fixed",
            Self::Full => "full",
        }
    }
}

/// All experiments and claims of a file and of those that it includes.
pub(super) struct ClaimsFile {
    pub experiments: Vec<Experiment>,
    claims: Vec<Placed>,
}

/// A claim and where it stands.
struct Placed {
    claim: Claim,
    /// File and line.
    place: String,
    /// Name of the file, without folders and ending.
    group: String,
}

/// An experiment that claims rest on, and what is laid over its config in each mode. A mode that is not there leaves the
/// experiment out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Experiment {
    pub name: String,
    /// Relative to the file that names it; once that is read, to the folder where the program runs.
    pub config: PathBuf,
    /// Whether real graphs are needed.
    #[serde(default)]
    needs_data: bool,
    /// Whether the published figures are needed.
    #[serde(default)]
    needs_published: bool,
    quick: Option<Vec<String>>,
    fixed: Option<Vec<String>>,
    full: Option<Vec<String>>,
}

/// One file as it stands on the disk.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    include: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    experiment: Vec<Experiment>,
    #[serde(default)]
    claim: Vec<ClaimTable>,
}

/// One file that was read.
struct Part {
    path: PathBuf,
    /// The same without links, which tells whether two paths mean one file.
    canonical: PathBuf,
    content: String,
    experiments: Vec<Experiment>,
    claims: Vec<ClaimTable>,
}

impl ClaimsFile {
    /// Reads a file and those that it includes.
    ///
    /// # Errors
    /// A file that is no TOML, holds nothing, is included twice, or has an unknown field, score or experiment; two claims
    /// of one id, or two experiments of one name.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let mut parts = Vec::new();
        read_into(&mut parts, path)?;
        let mut experiments: Vec<Experiment> = Vec::new();
        let mut named: BTreeMap<String, PathBuf> = BTreeMap::new();
        for part in &mut parts {
            for experiment in part.experiments.drain(..) {
                if let Some(other) = named.insert(experiment.name.clone(), part.path.clone()) {
                    let (place, other, name) = (part.path.display(), other.display(), &experiment.name);
                    let problem = format!("{place}: two experiments are named `{name}`; the other stands in {other}");
                    return Err(ConfigError(problem).into());
                }
                experiments.push(experiment);
            }
        }
        let mut claims: Vec<Placed> = Vec::new();
        for part in parts {
            let group = part.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for table in &part.claims {
                let place = part.place(&table.id);
                let wrong = |ConfigError(problem): ConfigError| {
                    ConfigError(format!("{place}: claim `{}`: {problem}", table.id.get_ref()))
                };
                for claim in claims_of(table, &experiments).map_err(wrong)? {
                    claims.push(Placed { claim, place: place.clone(), group: group.clone() });
                }
            }
        }
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        for Placed { claim, place, .. } in &claims {
            if let Some(other) = known.insert(&claim.id, place) {
                let problem = format!("{place}: two claims have the id `{}`; the other stands at {other}", claim.id);
                return Err(ConfigError(problem).into());
            }
        }
        if claims.is_empty() {
            let place = path.display();
            return Err(ConfigError(format!("{place}: it holds no [[claim]], and nor does what it includes")).into());
        }
        Ok(Self { experiments, claims })
    }

    /// The claims of these names; all where none is named. A name is an id, or what ids begin with before a dot, or that
    /// of an included file without its ending.
    pub(super) fn wanted(&self, names: &[String]) -> Result<Vec<&Claim>, ConfigError> {
        let is_meant = |placed: &Placed, name: &str| {
            let rest = placed.claim.id.strip_prefix(name);
            placed.group == name || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        for name in names {
            if !self.claims.iter().any(|placed| is_meant(placed, name)) {
                let groups: BTreeSet<&str> = self.claims.iter().map(|placed| placed.group.as_str()).collect();
                let known: Vec<&str> =
                    self.claims.iter().map(|placed| placed.claim.id.as_str()).chain(groups.iter().copied()).collect();
                let hint = did_you_mean(name, &known);
                let groups = groups.into_iter().collect::<Vec<_>>().join(", ");
                return Err(ConfigError(format!(
                    "--only {name}: there is no such claim and no such file of claims{hint} (files: {groups})"
                )));
            }
        }
        let is_wanted = |placed: &&Placed| names.is_empty() || names.iter().any(|name| is_meant(placed, name));
        Ok(self.claims.iter().filter(is_wanted).map(|placed| &placed.claim).collect())
    }
}

impl Part {
    /// File and line of a text in it.
    fn place(&self, text: &Spanned<String>) -> String {
        let before = &self.content.as_bytes()[..text.span().start.min(self.content.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("{}:{line}", self.path.display())
    }
}

/// Reads a file and, after it, those that it includes.
fn read_into(parts: &mut Vec<Part>, path: &Path) -> anyhow::Result<()> {
    let place = path.display();
    let content =
        std::fs::read_to_string(path).with_context(|| format!("{place}: cannot read the claims; check the path"))?;
    let text: Text =
        toml::from_str(&content).map_err(|error| ConfigError(format!("{place}: {}", error.to_string().trim_end())))?;
    if text.include.as_ref().is_some_and(Vec::is_empty) {
        return Err(ConfigError(format!("{place}: `include` names no file; name one, or remove the line")).into());
    }
    if text.include.is_none() && text.experiment.is_empty() && text.claim.is_empty() {
        let problem =
            "it holds no [[claim]], no [[experiment]] and no `include`; write one, or do not include the file";
        return Err(ConfigError(format!("{place}: {problem}")).into());
    }
    let canonical = path.canonicalize().with_context(|| format!("{place}: cannot read the claims"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let at_home = |experiment: Experiment| Experiment { config: folder.join(&experiment.config), ..experiment };
    let experiments = text.experiment.into_iter().map(at_home).collect();
    let part = Part { path: path.to_owned(), canonical, content, experiments, claims: text.claim };
    let includes: Vec<(String, PathBuf)> =
        text.include.iter().flatten().map(|name| (part.place(name), folder.join(name.get_ref()))).collect();
    parts.push(part);
    for (place, file) in includes {
        let canonical = file.canonicalize().map_err(|error| {
            let file = file.display();
            ConfigError(format!(
                "{place}: cannot include {file} ({error}); a path is relative to the file that names it"
            ))
        })?;
        if parts.iter().any(|part| part.canonical == canonical) {
            let file = file.display();
            let problem = format!(
                "{place}: {file} is read already; a file is included once, and not by itself or by what it includes"
            );
            return Err(ConfigError(problem).into());
        }
        read_into(parts, &file)?;
    }
    Ok(())
}

impl Experiment {
    /// What is laid over the config in a mode, if the experiment is a part of it.
    pub(super) fn sets(&self, mode: Mode) -> Option<&Vec<String>> {
        match mode {
            Mode::Quick => self.quick.as_ref(),
            Mode::Fixed => self.fixed.as_ref(),
            Mode::Full => self.full.as_ref(),
        }
    }

    /// Why the experiment cannot be run; nothing where it can.
    pub(super) fn lacks(&self, mode: Mode, arguments: &ClaimsArguments) -> Option<String> {
        if self.sets(mode).is_none() {
            return Some(format!("no part of --{}", mode.name()));
        }
        if self.needs_data && arguments.data_dir.is_none() {
            return Some("needs --data-dir".to_owned());
        }
        (self.needs_published && arguments.published.is_none()).then(|| "needs --published".to_owned())
    }
}
