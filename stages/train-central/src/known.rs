//! Guarantees that were found before: they are asked for when a run is planned, charged and made, and noise takes a while to
//! find.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::{Error, Guarantee, Learner, Params};

static FOUND: Mutex<BTreeMap<String, Guarantee>> = Mutex::new(BTreeMap::new());

/// [`Learner::guarantee`], computed once for each table of parameters.
///
/// # Errors
/// As there.
pub fn guarantee<L: Learner>(params: &Params) -> Result<Guarantee, Error> {
    let name = name_of::<L>(params);
    let found = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(guarantee) = found().get(&name) {
        return Ok(guarantee.clone());
    }
    let guarantee = L::guarantee(params)?;
    found().insert(name, guarantee.clone());
    Ok(guarantee)
}

/// A learner with all its parameters.
pub(crate) fn name_of<L: Learner>(params: &Params) -> String {
    let params = serde_json::to_string(params).unwrap_or_else(|_| format!("{params:?}"));
    format!("{} {params}", L::NAME)
}
