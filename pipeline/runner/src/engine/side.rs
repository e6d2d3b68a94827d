//! Which part of the pipeline runs here.

/// Which part of the pipeline this machine runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SideChoice {
    /// Everything.
    #[default]
    All,
    /// The untrusted server alone: owner data are absent, and their entries are taken as the last run left them.
    Server,
    /// Whoever knows the truth: it reads the data and scores what the server made, which is taken as the server left it.
    Auditor,
}
