//! How the runner fills a stage's inputs and takes its outputs, whatever their number.

use crate::artifact::{Artifact, Column, Facts, Invalid};
use crate::by_blocks::Stored;
use crate::side::{Owner, ReadableBy, Side, Zone};

/// Reads artifacts that the runner points at.
pub trait Loader {
    /// A stored artifact or raw file.
    type Handle;
    /// Why it could not be read.
    type Error;
    /// Reads one artifact.
    ///
    /// # Errors
    /// When it is absent, corrupt or of another schema.
    fn load<A: Artifact>(&self, handle: &Self::Handle) -> Result<A, Self::Error>;
    /// Opens one artifact, of which rows are read later.
    ///
    /// # Errors
    /// When it is absent, corrupt or of another schema.
    fn open<A: Artifact>(&self, handle: &Self::Handle) -> Result<Stored<A>, Self::Error>;
    /// Reads one raw file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn raw(&self, handle: &Self::Handle) -> Result<RawFile, Self::Error>;
    /// The error for a slot with the wrong number of artifacts.
    fn miscounted(&self, name: &str, found: usize) -> Self::Error;
}

/// Writes artifacts.
pub trait Saver {
    /// Why it could not be written.
    type Error: From<Invalid>;
    /// Writes one artifact of type `A`, block by block.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save<A: Artifact>(
        &mut self,
        facts: &Facts,
        blocks: &mut dyn Iterator<Item = Vec<Column>>,
        attachment: Option<Vec<u8>>,
    ) -> Result<(), Self::Error>;
}

/// A file as a user or a data host gave it.
pub struct RawFile {
    /// Path as the config names it.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What fits into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Name of the artifact.
    pub artifact: &'static str,
    /// Where it lives: owner data never fits into a slot for what the server may see.
    pub zone: Zone,
    /// How many.
    pub arity: Arity,
}

/// How many artifacts a slot takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// One.
    One,
    /// One or none.
    Optional,
    /// One of every run that feeds the stage, such as one per trial.
    Many,
    /// The files of the user.
    Files,
}

/// One slot of a stage's inputs: an artifact, an optional one, or one per trial.
pub trait Input<S: Side>: Sized {
    /// What fits into it.
    fn slot() -> Slot;
    /// Fills the slot.
    ///
    /// # Errors
    /// Those of the loader, or a wrong number of handles.
    fn read<L: Loader>(loader: &L, handles: &[L::Handle]) -> Result<Self, L::Error>;
}

impl<S: Side, A: ReadableBy<S>> Input<S> for A {
    fn slot() -> Slot {
        Slot { artifact: A::NAME, zone: A::ZONE, arity: Arity::One }
    }
    fn read<L: Loader>(loader: &L, handles: &[L::Handle]) -> Result<Self, L::Error> {
        match handles {
            [handle] => loader.load(handle),
            _ => Err(loader.miscounted(A::NAME, handles.len())),
        }
    }
}

impl<S: Side, A: ReadableBy<S>> Input<S> for Option<A> {
    fn slot() -> Slot {
        Slot { artifact: A::NAME, zone: A::ZONE, arity: Arity::Optional }
    }
    fn read<L: Loader>(loader: &L, handles: &[L::Handle]) -> Result<Self, L::Error> {
        match handles {
            [] => Ok(None),
            [handle] => loader.load(handle).map(Some),
            _ => Err(loader.miscounted(A::NAME, handles.len())),
        }
    }
}

impl<S: Side, T: ReadableBy<S>> Input<S> for Vec<T> {
    fn slot() -> Slot {
        Slot { artifact: T::NAME, zone: T::ZONE, arity: Arity::Many }
    }
    fn read<L: Loader>(loader: &L, handles: &[L::Handle]) -> Result<Self, L::Error> {
        handles.iter().map(|handle| loader.load(handle)).collect()
    }
}

impl Input<Owner> for Vec<RawFile> {
    fn slot() -> Slot {
        Slot { artifact: "raw", zone: Zone::Owner, arity: Arity::Files }
    }
    fn read<L: Loader>(loader: &L, handles: &[L::Handle]) -> Result<Self, L::Error> {
        handles.iter().map(|handle| loader.raw(handle)).collect()
    }
}

/// All slots of a stage.
pub trait Inputs<S: Side>: Sized {
    /// The slots, in order.
    fn slots() -> Vec<Slot>;
    /// Fills the slots in order.
    ///
    /// # Errors
    /// Those of the loader.
    fn read<L: Loader>(loader: &L, slots: &[Vec<L::Handle>]) -> Result<Self, L::Error>;
}

/// One output: an artifact, or one that the data may not have.
pub trait Output {
    /// What it is.
    fn slot() -> Slot;
    /// Writes it.
    ///
    /// # Errors
    /// Those of the saver.
    fn write<W: Saver>(&self, saver: &mut W) -> Result<(), W::Error>;
}

impl<A: Artifact> Output for A {
    fn slot() -> Slot {
        Slot { artifact: A::NAME, zone: A::ZONE, arity: Arity::One }
    }
    fn write<W: Saver>(&self, saver: &mut W) -> Result<(), W::Error> {
        saver.save::<A>(&self.facts(), &mut self.blocks(), self.attachment())
    }
}

impl<A: Artifact> Output for Option<A> {
    fn slot() -> Slot {
        Slot { artifact: A::NAME, zone: A::ZONE, arity: Arity::Optional }
    }
    fn write<W: Saver>(&self, saver: &mut W) -> Result<(), W::Error> {
        self.as_ref().map_or(Ok(()), |artifact| artifact.write(saver))
    }
}

/// All outputs of a stage.
pub trait Outputs {
    /// What they are, in order.
    fn slots() -> Vec<Slot>;
    /// Writes them.
    ///
    /// # Errors
    /// Those of the saver.
    fn write<W: Saver>(&self, saver: &mut W) -> Result<(), W::Error>;
}

macro_rules! tuples {
    ($($slot:ident $index:tt),+) => {
        impl<S: Side, $($slot: Input<S>),+> Inputs<S> for ($($slot,)+) {
            fn slots() -> Vec<Slot> {
                vec![$($slot::slot()),+]
            }
            fn read<L: Loader>(loader: &L, slots: &[Vec<L::Handle>]) -> Result<Self, L::Error> {
                Ok(($($slot::read(loader, slots.get($index).map_or(&[], Vec::as_slice))?,)+))
            }
        }
        impl<$($slot: Output),+> Outputs for ($($slot,)+) {
            fn slots() -> Vec<Slot> {
                vec![$($slot::slot()),+]
            }
            fn write<W: Saver>(&self, saver: &mut W) -> Result<(), W::Error> {
                $(self.$index.write(saver)?;)+
                Ok(())
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
