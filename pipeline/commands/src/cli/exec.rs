//! What `exec` is told.

use bytesize::ByteSize;
use clap::Args;

use super::other_machines::CacheArguments;

/// One task of a plan.
#[derive(Args)]
pub(crate) struct ExecArguments {
    /// Key of the entry that the task makes; the run has written an order for it.
    #[arg(value_parser = key)]
    pub key: String,
    /// Most memory that one artifact, or the models of one training, may take, e.g. 8GiB (default: what this machine has).
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<ByteSize>,
    /// End together with the process of this number, which started this one.
    #[arg(long, value_name = "PROCESS")]
    pub die_with: Option<u32>,
    /// Where entries are that other machines made.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// The key of an entry: 32 hexadecimal digits.
fn key(text: &str) -> Result<String, String> {
    let is_key = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_key { Ok(text.to_owned()) } else { Err("a key has 32 hexadecimal digits".to_owned()) }
}
