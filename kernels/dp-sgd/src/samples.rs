//! What a network is trained on: weighted rows with a class.

/// Samples, each a class with the rows whose outputs are added up to predict it.
///
/// A perceptron has one row of weight 1 in each sample. DPAR adds up the rows of a page-rank vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    starts: Vec<usize>,
    terms: Vec<(u32, f32)>,
    classes: Vec<u16>,
}

impl Samples {
    /// Samples of one row each.
    pub fn of_rows(rows: impl IntoIterator<Item = (u32, u16)>) -> Self {
        let mut samples = Self::default();
        rows.into_iter().for_each(|(row, class)| samples.push(&[(row, 1.0)], class));
        samples
    }

    /// Adds a sample.
    pub fn push(&mut self, terms: &[(u32, f32)], class: u16) {
        self.starts.push(self.terms.len());
        self.terms.extend_from_slice(terms);
        self.classes.push(class);
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Rows with their weights.
    #[must_use]
    pub fn terms(&self, sample: usize) -> &[(u32, f32)] {
        let end = self.starts.get(sample + 1).copied().unwrap_or(self.terms.len());
        &self.terms[self.starts[sample]..end]
    }

    /// Class of a sample.
    #[must_use]
    pub fn class(&self, sample: usize) -> u16 {
        self.classes[sample]
    }
}
