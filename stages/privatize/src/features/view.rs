//! What one node knows about its features.

/// The features of one node, and public numbers. Nothing of another node can be seen through it.
#[derive(Clone, Copy, Debug)]
pub struct FeatureView<'a> {
    node: u32,
    n_features: usize,
    listed: (&'a [u32], &'a [f32]),
    range: [f64; 2],
    /// Where an unlisted feature lies in the range.
    share_of_unlisted: f64,
}

impl<'a> FeatureView<'a> {
    /// The view of `node`, whose features are `listed` by ascending number with their values; the others are 0.
    #[must_use]
    pub fn new(node: u32, n_features: usize, listed: (&'a [u32], &'a [f32]), range: [f64; 2]) -> Self {
        let share_of_unlisted = share(0.0, range);
        Self { node, n_features, listed, range, share_of_unlisted }
    }

    /// A node that says nothing: each of its features is the middle of the range, whatever they are.
    #[must_use]
    pub fn without_information(node: u32, n_features: usize, range: [f64; 2]) -> Self {
        Self { node, n_features, listed: (&[], &[]), range, share_of_unlisted: 0.5 }
    }

    /// Number of this node, which is public.
    #[must_use]
    pub fn node(self) -> u32 {
        self.node
    }

    /// Number of features, which is public.
    #[must_use]
    pub fn n_features(self) -> usize {
        self.n_features
    }

    /// Where each feature lies in the range, in `[0, 1]`, in the order of the features. Values outside the range count as
    /// its nearer end.
    pub fn shares(self) -> impl Iterator<Item = f64> + 'a {
        let mut listed = self.listed.0.iter().zip(self.listed.1).peekable();
        (0..self.n_features as u32).map(move |feature| match listed.next_if(|&(&column, _)| column == feature) {
            Some((_, &value)) => share(f64::from(value), self.range),
            None => self.share_of_unlisted,
        })
    }

    /// Where one feature lies in the range.
    #[must_use]
    pub fn share(self, feature: u32) -> f64 {
        match self.listed.0.binary_search(&feature) {
            Ok(at) => share(f64::from(self.listed.1[at]), self.range),
            Err(_) => self.share_of_unlisted,
        }
    }

    /// Whether every feature lies in the range, as exactly as the data are stored.
    #[must_use]
    pub fn is_in_range(self) -> bool {
        let [lower, upper] = self.range.map(|end| end as f32);
        let contains = |value: f32| lower <= value && value <= upper;
        let lists_all = self.listed.0.len() == self.n_features;
        (lists_all || contains(0.0)) && self.listed.1.iter().all(|&value| contains(value))
    }
}

/// Where `value` lies in `range`: 0 at its lower end and 1 at its upper end.
fn share(value: f64, [lower, upper]: [f64; 2]) -> f64 {
    ((value - lower) / (upper - lower)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
