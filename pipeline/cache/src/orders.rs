//! Orders: tasks that a worker is to run, as the store's `orders` folder holds them.

use crate::error::CacheError;
use crate::objects::Cache;

impl Cache {
    /// Puts the order of the entry `key`, in the place of an earlier one.
    ///
    /// # Errors
    /// When the cache refuses.
    pub fn put_order(&self, key: &str, order: Vec<u8>) -> Result<(), CacheError> {
        self.put(&name(key), order)
    }

    /// The order of the entry `key`, if there is one.
    ///
    /// # Errors
    /// When the cache refuses.
    pub fn order(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        self.get(&name(key))
    }

    /// Removes the order of an entry that was made.
    ///
    /// # Errors
    /// When the cache refuses.
    pub fn remove_order(&self, key: &str) -> Result<(), CacheError> {
        self.remove(&name(key))
    }
}

fn name(key: &str) -> String {
    format!("orders/{key}.json")
}
