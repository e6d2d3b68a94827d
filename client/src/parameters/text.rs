//! Parameters as text: six lines of TOML or seven, of which a digest names the parameters.

use alloc::format;
use alloc::string::String;

use super::PublicParameters;

impl PublicParameters {
    /// The canonical text: equal parameters have equal texts, and only those.
    ///
    /// It is TOML with one parameter a line. Numbers are the shortest that read back as the same value.
    #[must_use]
    pub fn to_text(&self) -> String {
        let population = self.population.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = format!(
            "population = \"{population}\"\nmechanism = \"{}\"\nn_nodes = {}\nepsilon_links = {:?}\nepsilon_degree = \
             {:?}\nrelease = {}\n",
            self.mechanism.name(),
            self.n_nodes,
            self.epsilon_links,
            self.epsilon_degree,
            self.release
        );
        if let Some(numbering) = self.numbering {
            text += &format!("numbering = \"{}\"\n", blake3::Hash::from(numbering).to_hex());
        }
        text
    }
}

#[cfg(feature = "std")]
pub use reading::ParameterTextError;

#[cfg(feature = "std")]
mod reading {
    use alloc::borrow::ToOwned;
    use alloc::string::String;
    use core::fmt;

    use serde::Deserialize;

    use super::PublicParameters;
    use crate::{Mechanism, ParameterError};

    /// A parameter file as it is written.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Written {
        population: String,
        mechanism: String,
        n_nodes: u32,
        epsilon_links: f64,
        epsilon_degree: f64,
        release: u32,
        numbering: Option<String>,
    }

    /// Why a text holds no parameters.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ParameterTextError {
        /// The line, from 1 on, where it is known.
        pub line: Option<usize>,
        /// What is wrong there.
        pub what: String,
    }

    impl PublicParameters {
        /// The parameters that a TOML text holds: all of them but `numbering`, which may be absent, and no others,
        /// in any order and with any comments.
        ///
        /// # Errors
        /// When the text is not TOML, lacks a parameter or holds another one, or a value cannot be used.
        pub fn from_text(text: &str) -> Result<Self, ParameterTextError> {
            let written: Written = toml::from_str(text).map_err(|error| {
                let line =
                    error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count());
                ParameterTextError { line: line.map(|before| before + 1), what: error.message().to_owned() }
            })?;
            let mechanism: Mechanism = written.mechanism.parse()?;
            let Written { population, n_nodes, epsilon_links, epsilon_degree, release, numbering, .. } = written;
            let parameters = Self::new(&population, mechanism, n_nodes, epsilon_links, epsilon_degree, release)?;
            let Some(numbering) = numbering else { return Ok(parameters) };
            let digest = blake3::Hash::from_hex(&numbering).map_err(|_| ParameterError::Numbering(numbering))?;
            Ok(parameters.with_numbering(digest.into()))
        }
    }

    impl From<ParameterError> for ParameterTextError {
        fn from(error: ParameterError) -> Self {
            Self { line: None, what: alloc::format!("{error}") }
        }
    }

    impl fmt::Display for ParameterTextError {
        fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
            match self.line {
                Some(line) => write!(formatter, "line {line}: {}", self.what),
                None => formatter.write_str(&self.what),
            }
        }
    }

    impl core::error::Error for ParameterTextError {}
}
