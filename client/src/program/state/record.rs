//! The file `releases`: a checksum of what follows it, then TOML.

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use veilgraph_client::PublicParameters;

/// The line before the TOML begins so; the checksum follows.
const FIRST_LINE: &str = "# blake3 of the lines below: ";

/// Everything that this node has released from one state folder.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// Tells whether a secret is the one that keyed the digests of lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
    /// In the order in which they were first drawn.
    #[serde(default, rename = "release")]
    pub(crate) releases: Vec<Release>,
}

/// One release, and the last report that was drawn for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Release {
    /// Number of the node.
    pub(crate) node: u32,
    /// Where the noise came from.
    pub(crate) noise: String,
    /// Keyed digest of the list that was reported.
    pub(crate) list: String,
    /// Number of reports that were drawn.
    pub(crate) draws: u32,
    /// Nats per bit of the list that all these reports cost together.
    pub(crate) cost: f64,
    /// The last report, in hexadecimal digits.
    report: String,
    /// Canonical text of the parameters.
    pub(crate) parameters: String,
}

impl Record {
    /// Nats per bit of the list that all releases cost together, by sequential composition.
    pub(crate) fn spent(&self) -> f64 {
        self.releases.iter().map(|release| release.cost).sum()
    }

    pub(crate) fn parse(bytes: &[u8]) -> anyhow::Result<Self> {
        let text = str::from_utf8(bytes).context("it is no text")?;
        let (first, rest) = text.split_once('\n').context("it ends too early")?;
        let checksum = first.strip_prefix(FIRST_LINE).context("its first line holds no checksum")?;
        ensure!(checksum == checksum_of(rest), "its checksum is another one");
        let record: Self = toml::from_str(rest)?;
        for release in &record.releases {
            PublicParameters::from_text(&release.parameters)?;
            release.report()?;
        }
        Ok(record)
    }

    pub(crate) fn to_text(&self) -> anyhow::Result<String> {
        let text = toml::to_string(self).context("the releases cannot be written as text")?;
        Ok(format!("{FIRST_LINE}{}\n{text}", checksum_of(&text)))
    }
}

impl Release {
    /// A first release, of which nothing is drawn yet.
    pub(crate) fn new(node: u32, noise: &str, parameters: &PublicParameters) -> Self {
        let parameters = parameters.to_text();
        let (list, report) = (String::new(), String::new());
        Self { node, noise: noise.to_owned(), list, draws: 0, cost: 0.0, report, parameters }
    }

    /// The bytes of the last report.
    pub(crate) fn report(&self) -> anyhow::Result<Vec<u8>> {
        let digits = self.report.as_bytes().chunks(2);
        let byte = |pair: &[u8]| str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
        digits.map(byte).collect::<Option<_>>().context("a report is not written in hexadecimal digits")
    }

    /// Notes one further report about the list of this digest.
    pub(crate) fn add(&mut self, list: String, report: &[u8], cost: f64) {
        self.list = list;
        self.draws += 1;
        self.cost += cost;
        self.report = report.iter().map(|byte| format!("{byte:02x}")).collect();
    }
}

fn checksum_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// A value by which a secret is recognised and that does not tell it.
pub(crate) fn check_of(secret: &[u8; 32]) -> String {
    blake3::Hash::from(blake3::derive_key("veilgraph 2026-11 check of a client's secret v1", secret))
        .to_hex()
        .to_string()
}

/// The secret that a file holds, if it is the one that keyed the digests of lists.
pub(crate) fn secret_of(bytes: &[u8], record: &Record) -> anyhow::Result<[u8; 32]> {
    let secret: [u8; 32] = bytes.try_into().ok().context("it does not hold 32 bytes")?;
    let is_known = record.secret.as_ref().is_none_or(|check| *check == check_of(&secret));
    ensure!(is_known, "it is not the secret with which the releases were recorded");
    Ok(secret)
}
