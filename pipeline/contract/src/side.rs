//! Who may read what: the trust boundary as types.

use crate::artifact::{Artifact, Column, ColumnType, Facts, Invalid};

/// Where an artifact lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// Raw data, held by the nodes or by a trusted curator.
    Owner,
    /// What the untrusted server sees.
    Server,
    /// The truth, used only to score.
    Auditor,
    /// Known to everybody.
    Public,
}

impl Zone {
    /// Lower-case name, as in metadata.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Server => "server",
            Self::Auditor => "auditor",
            Self::Public => "public",
        }
    }
}

/// Who runs a stage.
pub trait Side {
    /// Lower-case name.
    const NAME: &'static str;
}

/// Whoever holds raw data: the nodes, each with its own list, or a trusted curator.
pub enum Owner {}
/// The untrusted server.
pub enum Server {}
/// Whoever scores a run and knows the truth.
pub enum Auditor {}

impl Side for Owner {
    const NAME: &'static str = "owner";
}
impl Side for Server {
    const NAME: &'static str = "server";
}
impl Side for Auditor {
    const NAME: &'static str = "auditor";
}

/// An artifact that the server may see. Each `impl` says why it reveals no more than its budget.
pub trait Public: Artifact {}

/// An artifact that side `S` may read.
///
/// The server reads only [`Public`] artifacts, so a server-side stage that asks for a private one
/// does not compile:
///
/// ```compile_fail
/// use veilgraph_contract::{Artifact, Private, ReadableBy, Server};
/// fn server_reads<A: ReadableBy<Server>>() {}
/// fn leak<A: Artifact>() { server_reads::<Private<A>>() }
/// ```
pub trait ReadableBy<S: Side>: Artifact {}
impl<A: Public> ReadableBy<Server> for A {}
impl<A: Artifact> ReadableBy<Owner> for A {}
impl<A: Artifact> ReadableBy<Auditor> for A {}

/// Owner data: never [`Public`], stored apart.
///
/// It cannot slip into a message, a log or a file, for it is neither `Debug` nor `Display` nor `Clone`:
///
/// ```compile_fail
/// use veilgraph_contract::Private;
/// println!("{:?}", Private(7));
/// ```
/// ```compile_fail
/// use veilgraph_contract::Private;
/// let copy = Private(7).clone();
/// ```
///
/// Nobody outside this crate may make it public:
///
/// ```compile_fail
/// use veilgraph_contract::{Artifact, Private, Public};
/// impl<A: Artifact> Public for Private<A> {}
/// ```
///
/// A server-side stage that asks for it is no stage, while the same stage on the owner's side is:
///
/// ```compile_fail
/// use veilgraph_contract::{Artifact, Inputs, Private, Server};
/// fn is_input<I: Inputs<Server>>() {}
/// fn leak<A: Artifact>() { is_input::<(Private<A>,)>() }
/// ```
/// ```
/// use veilgraph_contract::{Artifact, Inputs, Owner, Private};
/// fn is_input<I: Inputs<Owner>>() {}
/// fn fine<A: Artifact>() { is_input::<(Private<A>,)>() }
/// ```
pub struct Private<T>(pub T);

/// The truth kept for scoring: never [`Public`], read by `evaluate` alone.
///
/// ```compile_fail
/// use veilgraph_contract::{Artifact, HeldOut, Inputs, Server};
/// fn is_input<I: Inputs<Server>>() {}
/// fn peek<A: Artifact>() { is_input::<(Option<HeldOut<A>>,)>() }
/// ```
pub struct HeldOut<T>(pub T);

macro_rules! wrapped {
    ($wrapper:ident, $name:expr, $zone:expr) => {
        impl<T: Artifact> Artifact for $wrapper<T> {
            const NAME: &'static str = $name;
            const ZONE: Zone = $zone;
            const COLUMNS: &'static [(&'static str, ColumnType)] = T::COLUMNS;
            const ATTACHMENT: Option<&'static str> = T::ATTACHMENT;
            fn facts(&self) -> Facts {
                self.0.facts()
            }
            fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
                self.0.blocks()
            }
            fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
                T::from_blocks(facts, blocks).map($wrapper)
            }
            fn from_parts(
                facts: &Facts,
                blocks: &mut dyn Iterator<Item = Vec<Column>>,
                attachment: Option<&[u8]>,
            ) -> Result<Self, Invalid> {
                T::from_parts(facts, blocks, attachment).map($wrapper)
            }
            fn footprint(facts: &Facts, stored: u64) -> Result<u64, Invalid> {
                T::footprint(facts, stored)
            }
            fn attachment(&self) -> Option<Vec<u8>> {
                self.0.attachment()
            }
        }
    };
}
wrapped!(Private, T::NAME, Zone::Owner);
wrapped!(HeldOut, T::HELD_OUT_NAME, Zone::Auditor);
