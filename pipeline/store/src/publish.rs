//! What the server may see of an entry, as an entry of its own.

use serde_json::Value;

use crate::draft::Draft;
use crate::entry::{Entry, Found, Store};
use crate::error::StoreError;

impl Entry {
    /// Puts the public files of this entry into a server's store, and returns the entry there. The manifest beside them
    /// holds `params`, which are public, and digests of these files; nothing in it depends on private data. A copy that is
    /// damaged is replaced.
    ///
    /// # Errors
    /// When a file is damaged, or the file system refuses.
    pub fn publish_to(&self, server: &Store, params: Value) -> Result<Entry, StoreError> {
        let public = || self.manifest.outputs.iter().filter(|(_, output)| output.is_public());
        let digests = public().map(|(name, output)| format!("{name}:{}", output.digest)).collect();
        let recipe = self.manifest.recipe.published(params, digests);
        let lock = server.lock(&recipe, || {})?;
        if let Found::Whole(entry) = server.sound(&recipe.stage, &recipe.key())? {
            return Ok(*entry);
        }
        let mut draft: Draft = server.draft(recipe, lock)?;
        draft.set_release(self.manifest.release.clone());
        for (name, output) in public() {
            draft.adopt(name, output, self.check(output)?, &self.path(output))?;
        }
        draft.publish()
    }
}
