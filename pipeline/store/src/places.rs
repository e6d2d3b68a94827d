//! Which folder holds what, and who may read it.

use std::path::{Path, PathBuf};

use crate::entry::Store;
use crate::manifest::Recipe;

/// A folder of a store, by who may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What a server would see in simulations. Whoever knows the seed can remove their noise, so it is private.
    Simulation,
    /// Private data, the ledger, and releases of deployments as they were drawn.
    Owner,
    /// What the server of a deployment may see: this folder can be copied as it is.
    Server,
    /// The truth, and scores that were computed from it.
    Auditor,
}

/// What a store is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// It has all parts: an owner's store, or a laboratory's.
    Whole,
    /// It is a copy of the part [`Part::Server`] and has no other.
    ServerAlone,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 4] = [Self::Simulation, Self::Owner, Self::Server, Self::Auditor];

    /// Name of the folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulation => "simulation",
            Self::Owner => "owner",
            Self::Server => "server",
            Self::Auditor => "auditor",
        }
    }

    /// Whether only the user of this store may enter.
    #[must_use]
    pub fn is_private(self) -> bool {
        self != Self::Server
    }

    /// The part that holds the manifest of an entry, and its files that the server may see.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        match (recipe.deployment, recipe.is_published(), recipe.side.as_str()) {
            (false, ..) => Self::Simulation,
            (true, false, "owner") => Self::Owner,
            (true, false, "auditor") => Self::Auditor,
            (true, ..) => Self::Server,
        }
    }

    /// The part that holds the files of `zone` of an entry.
    #[must_use]
    pub fn of_zone(recipe: &Recipe, zone: &str) -> Self {
        match zone {
            "owner" => Self::Owner,
            "auditor" => Self::Auditor,
            _ => Self::of(recipe),
        }
    }
}

impl Store {
    /// The folder of a part.
    #[must_use]
    pub fn part(&self, part: Part) -> PathBuf {
        match (self.kind, part) {
            (StoreKind::ServerAlone, Part::Server) => self.root.clone(),
            _ => self.root.join(part.name()),
        }
    }

    /// The server's part as a store of its own.
    #[must_use]
    pub fn server(&self) -> Self {
        Self { root: self.part(Part::Server), kind: StoreKind::ServerAlone }
    }

    /// Folder of an entry in a part.
    pub(crate) fn place(&self, part: Part, stage: &str, key: &str) -> PathBuf {
        self.part(part).join(stage).join(key)
    }

    /// Folders in which manifests stand: those of all parts, and that of layouts before 3, which had no parts.
    pub(crate) fn homes(&self) -> Vec<PathBuf> {
        match self.kind {
            StoreKind::ServerAlone => vec![self.root.clone()],
            StoreKind::Whole => Part::ALL.into_iter().map(|part| self.part(part)).chain([self.root.clone()]).collect(),
        }
    }
}

/// Whether a folder is named like the key of an entry: 32 hexadecimal digits.
#[must_use]
pub fn is_key(path: &Path) -> bool {
    let is_hex = |name: &str| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_hex)
}
