//! The memory that a stage may take.

use bytesize::ByteSize;

/// The memory that a stage may take, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// One artifact, or the models of one training, may not take more.
    pub limit: u64,
    /// What falls to this task where others like it run at the same time. A stage that can do with less at a time takes no more.
    pub share: u64,
}

impl Memory {
    /// The memory of a task beside which no other one runs.
    #[must_use]
    pub fn of_one_task(limit: u64) -> Self {
        Self { limit, share: limit }
    }

    /// Refuses what alone would take more than the limit.
    ///
    /// # Errors
    /// Says what takes how many bytes at least, and how many it may take.
    pub fn check(self, what: &str, needed: u64) -> Result<(), TooLarge> {
        if needed <= self.limit {
            return Ok(());
        }
        Err(TooLarge { what: what.to_owned(), needed, limit: self.limit })
    }
}

/// Something would take more memory than a run may use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take at least {} of memory, the limit is {}", ByteSize(*needed), ByteSize(*limit))]
pub struct TooLarge {
    /// What it is, as people read it.
    pub what: String,
    /// Bytes that it takes, at least.
    pub needed: u64,
    /// Bytes that it may take.
    pub limit: u64,
}
