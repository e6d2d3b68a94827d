//! Large values that several tasks of a process read at the same time: they are decoded once and held once.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use veilgraph_contract::{Artifact, Zone};

/// What the present readers of a file hold. Whoever reads it first keeps the lock until the value is there.
type Slot = Arc<Mutex<Option<Weak<dyn Any + Send + Sync>>>>;

/// The slots by type and by digest of the content, so that it does not matter from which store a file is read.
static SLOTS: Mutex<BTreeMap<(TypeId, String), Slot>> = Mutex::new(BTreeMap::new());

/// Returns the value that a reader of the same content holds now, or else reads it. A reader waits for another one that is
/// reading it, so that no task of rayon may call this: while one waits for its parts, its thread could take up another that waits
/// for it.
///
/// # Errors
/// Those of `read`.
pub(crate) fn read_once<A: Artifact, E>(digest: &str, read: impl FnOnce() -> Result<A, E>) -> Result<A, E> {
    const {
        assert!(!A::IS_SHARED || matches!(A::ZONE, Zone::Server), "private data are held by their reader alone");
        assert!(!A::IS_SHARED || A::ATTACHMENT.is_none(), "the digest is that of the table alone");
    };
    if !A::IS_SHARED {
        return read();
    }
    let slot = slot_of((TypeId::of::<A>(), digest.to_owned()));
    let mut held = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shared) = held.as_ref().and_then(Weak::upgrade) {
        return Ok(A::from_shared(shared).unwrap_or_else(|| unreachable!("{} is shared as it was read", A::NAME)));
    }
    let value = read()?;
    let shared = value.shared().unwrap_or_else(|| unreachable!("{} says that it is shared", A::NAME));
    *held = Some(Arc::downgrade(&shared));
    Ok(value)
}

/// Returns the slot of a content, and forgets those that nobody holds or waits for.
fn slot_of(content: (TypeId, String)) -> Slot {
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    slots.retain(|_, slot| {
        let is_held = || slot.try_lock().is_ok_and(|held| held.as_ref().is_some_and(|held| held.strong_count() > 0));
        Arc::strong_count(slot) > 1 || is_held()
    });
    slots.entry(content).or_default().clone()
}
