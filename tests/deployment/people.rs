//! Who takes part: folders that only their owners may enter, and processes under users of their own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Answer;

/// Somebody with a folder.
pub(crate) struct Person {
    pub(crate) folder: PathBuf,
    /// The number of the user; none where this process may not become another user.
    user: Option<u32>,
}

/// Whether this process may start processes of other users.
pub(crate) fn may_become_others() -> bool {
    let answer = Command::new("id").arg("-u").output().expect("id starts");
    String::from_utf8_lossy(&answer.stdout).trim() == "0"
}

impl Person {
    /// Somebody whose folder nobody else may enter.
    pub(crate) fn new(folder: PathBuf, user: u32) -> Self {
        fs::create_dir_all(&folder).expect("a folder");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("closed");
        let person = Self { folder, user: may_become_others().then_some(user) };
        person.own(&person.folder);
        person
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Gives the person a file.
    pub(crate) fn is_given(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("written");
        self.own(&self.path(name));
    }

    /// Copies what somebody hands over.
    pub(crate) fn is_handed(&self, from: &Path, name: &str) {
        let copied = Command::new("cp").arg("-r").args([from, &self.path(name)]).status().expect("cp starts");
        assert!(copied.success());
        if let Some(user) = self.user {
            let owner = format!("{user}:{user}");
            let owned = Command::new("chown").args(["-R", &owner]).arg(self.path(name)).status().expect("chown starts");
            assert!(owned.success());
        }
    }

    /// Calls a program as this person, in the person's folder.
    pub(crate) fn calls(&self, program: &Path, arguments: &[&str]) -> Answer {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).env_clear().env("HOME", &self.folder);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        Answer::of(&mut command)
    }

    /// The same, which must succeed.
    pub(crate) fn does(&self, program: &Path, arguments: &[&str]) -> Answer {
        let answer = self.calls(program, arguments);
        assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.err);
        answer
    }

    fn own(&self, path: &Path) {
        if let Some(user) = self.user {
            chown(path, Some(user), Some(user)).expect("given to its owner");
        }
    }
}
