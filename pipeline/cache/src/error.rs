//! What can go wrong with a cache.

use veilgraph_store::StoreError;

/// What can go wrong with a cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The address is none that this program can read.
    #[error("{url}: {problem}; give file:///FOLDER or s3://BUCKET/FOLDER")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The program was built without object storage.
    #[error(
        "{url}: this program was built without object storage; build it with `cargo build --release --features s3`"
    )]
    WithoutObjectStorage {
        /// What was given.
        url: String,
    },
    /// The cache does not answer, or refuses.
    #[error(
        "{place}: cannot {action} in the cache: {cause}; check the address, and AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where it is object storage (AWS_ALLOW_HTTP=true where it speaks no TLS)"
    )]
    Refused {
        /// Address of the object.
        place: String,
        /// What was tried.
        action: &'static str,
        /// What the cache answered.
        #[source]
        cause: object_store::Error,
    },
    /// An entry is not what its name says.
    #[error("{place}: {problem}; {}", remedy(*is_forgotten))]
    Damaged {
        /// Address of its manifest.
        place: String,
        /// What is wrong with it.
        problem: String,
        /// Whether the manifest was removed, so that the cache has no such entry any more.
        is_forgotten: bool,
    },
    /// A file of this machine cannot be read or written.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: String,
        /// What the system answered.
        #[source]
        cause: std::io::Error,
    },
    /// The store of this machine refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn remedy(is_forgotten: bool) -> &'static str {
    if is_forgotten {
        "the cache has forgotten this entry"
    } else {
        "this machine cannot remove anything from the cache, so ask somebody to remove this object there"
    }
}
