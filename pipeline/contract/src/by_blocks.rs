//! Artifacts that are written or read block by block, because the whole may exceed the memory.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use crate::artifact::{Artifact, Column, Facts, Invalid};
use crate::inputs::{Arity, Input, Loader, Output, Saver, Slot};
use crate::side::{ReadableBy, Side};

/// Blocks of rows, one after the other. Readers stop at the first error.
pub type Blocks = Box<dyn Iterator<Item = Result<Vec<Column>, Invalid>>>;

/// An artifact of type `A` whose blocks are made while they are written.
pub struct Streamed<A> {
    facts: Facts,
    blocks: Box<MakeBlocks>,
    artifact: PhantomData<fn() -> A>,
}

type MakeBlocks = dyn Fn() -> Blocks + Send + Sync;

impl<A: Artifact> Streamed<A> {
    /// The artifact with these facts whose block `k < n_blocks` is `make(k)`.
    #[must_use]
    pub fn new(facts: Facts, n_blocks: usize, make: impl Fn(usize) -> Vec<Column> + Send + Sync + 'static) -> Self {
        let make = Arc::new(make);
        let blocks = move || -> Blocks {
            let make = make.clone();
            Box::new((0..n_blocks).map(move |block| Ok(make(block))))
        };
        Self::from_blocks(facts, blocks)
    }

    /// The artifact with these facts and the blocks that `blocks` gives; every call must give the same ones.
    #[must_use]
    pub fn from_blocks(facts: Facts, blocks: impl Fn() -> Blocks + Send + Sync + 'static) -> Self {
        Self { facts, blocks: Box::new(blocks), artifact: PhantomData }
    }

    /// The whole artifact in memory.
    ///
    /// # Errors
    /// When the blocks cannot be made or break an invariant of `A`.
    pub fn collect(&self) -> Result<A, Invalid> {
        until_error((self.blocks)(), |blocks| A::from_blocks(&self.facts, blocks))?
    }
}

impl<A: Artifact> Output for Streamed<A> {
    fn slot() -> Slot {
        <A as Output>::slot()
    }
    fn write<W: Saver>(&self, saver: &mut W) -> Result<(), W::Error> {
        // What was written before an error is thrown away with it.
        until_error((self.blocks)(), |blocks| saver.save::<A>(&self.facts, blocks, None))?
    }
}

/// An artifact of type `A` that stays where it is stored, and of which a stage function reads the rows that it needs.
///
/// Rows are asked for by the value of the first column. This column has the type `u32` and ascends over the whole table;
/// rows of a table in which it does not ascend are not found.
pub struct Stored<A> {
    facts: Facts,
    load: Box<Load<A>>,
    read: Box<Read>,
}

type Load<A> = dyn Fn() -> Result<A, Invalid> + Send + Sync;
type Read = dyn Fn(Range<u32>) -> Blocks + Send + Sync;

impl<A: Artifact> Stored<A> {
    /// The artifact that `load` gives as a whole, and whose rows `read` gives: those whose first value is in the range.
    #[must_use]
    pub fn new(
        facts: Facts,
        load: impl Fn() -> Result<A, Invalid> + Send + Sync + 'static,
        read: impl Fn(Range<u32>) -> Blocks + Send + Sync + 'static,
    ) -> Self {
        Self { facts, load: Box::new(load), read: Box::new(read) }
    }

    /// An artifact that is in memory already.
    #[must_use]
    pub fn held(artifact: A) -> Self
    where
        A: Clone,
    {
        let artifact = Arc::new(artifact);
        let of_rows = artifact.clone();
        let read = move |rows: Range<u32>| -> Blocks {
            let blocks: Vec<_> = of_rows.blocks().map(|block| among_rows(block, &rows)).collect();
            Box::new(blocks.into_iter())
        };
        Self::new(artifact.facts(), move || Ok(A::clone(&artifact)), read)
    }

    /// What the rows cannot say.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The whole artifact.
    ///
    /// # Errors
    /// When it cannot be read, breaks an invariant, or would take too much memory.
    pub fn load(&self) -> Result<A, Invalid> {
        (self.load)()
    }

    /// The rows whose first value is in the range, block by block.
    #[must_use]
    pub fn rows(&self, rows: Range<u32>) -> Blocks {
        (self.read)(rows)
    }
}

impl<S: Side, A: ReadableBy<S>> Input<S> for Stored<A> {
    fn slot() -> Slot {
        <A as Input<S>>::slot()
    }
    fn read<L: Loader>(loader: &L, handles: &[L::Handle]) -> Result<Self, L::Error> {
        match handles {
            [handle] => loader.open(handle),
            _ => Err(loader.miscounted(A::NAME, handles.len())),
        }
    }
}

impl<S: Side, A: ReadableBy<S>> Input<S> for Vec<Stored<A>> {
    fn slot() -> Slot {
        Slot { arity: Arity::Many, ..<A as Input<S>>::slot() }
    }
    fn read<L: Loader>(loader: &L, handles: &[L::Handle]) -> Result<Self, L::Error> {
        handles.iter().map(|handle| loader.open(handle)).collect()
    }
}

/// The rows of a block whose first value is in the range.
///
/// # Errors
/// When the first column has another type than `u32`.
pub fn among_rows(block: Vec<Column>, rows: &Range<u32>) -> Result<Vec<Column>, Invalid> {
    let Some(Column::U32(first)) = block.first() else {
        return Err(Invalid("the first column does not number the rows".to_owned()));
    };
    let below = |limit: u32| first.partition_point(|&row| row < limit);
    let kept = below(rows.start)..below(rows.end).max(below(rows.start));
    Ok(block.into_iter().map(|column| column.among(kept.clone())).collect())
}

/// Hands the blocks up to the first error to `take`; gives that error, if there is one.
///
/// # Errors
/// The first error of the blocks.
pub fn until_error<T>(
    blocks: Blocks,
    take: impl FnOnce(&mut dyn Iterator<Item = Vec<Column>>) -> T,
) -> Result<T, Invalid> {
    let mut error = None;
    // Whoever takes blocks may ask again after the last one, and nothing may follow an error.
    let taken = take(&mut blocks.map_while(|block| block.map_err(|invalid| error = Some(invalid)).ok()).fuse());
    error.map_or(Ok(taken), Err)
}

#[cfg(test)]
mod tests;
