//! What a server sees of a pair, and of a node's degree.

/// How the bit of a pair is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// The bit is flipped with probability `1 / (1 + e^ε)`.
    ///
    /// No mechanism of the same cost tells more about a pair: every one of them is this law, seen through noise.
    ///
    /// # Source
    /// Kairouz, Oh, Viswanath (2015), The composition theorem for differential privacy, theorem 3.3.
    RandomizedResponse,
    /// Laplace noise of scale `1 / ε` is added to the bit.
    Laplace,
}

/// One look at the bit of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// How it is protected.
    pub law: Law,
    /// What it costs, in nats.
    pub epsilon: f64,
}

/// All that reports tell the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signal {
    /// Independent looks at the bit of each pair: one from each list that has the pair.
    pub pair: Vec<Observation>,
    /// What each noisy degree of a node costs, in nats; Laplace noise has the variance `2 / ε²`.
    pub degrees: Vec<f64>,
    /// Whether the server is taken to know all degrees: the worst case.
    pub knows_degrees: bool,
}

/// Something that the server may see of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// By how many nats it moves the odds of a link.
    pub nats: f64,
    /// How probable it is where there is a link.
    pub if_linked: f64,
    /// How probable it is where there is none.
    pub if_not: f64,
}

impl Signal {
    /// These reports and others with noise of their own.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            pair: [self.pair.clone(), other.pair.clone()].concat(),
            degrees: [self.degrees.clone(), other.degrees.clone()].concat(),
            knows_degrees: self.knows_degrees || other.knows_degrees,
        }
    }

    /// The same reports with every budget multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let look = |look: &Observation| Observation { epsilon: look.epsilon * factor, ..*look };
        Self {
            pair: self.pair.iter().map(look).collect(),
            degrees: self.degrees.iter().map(|epsilon| epsilon * factor).collect(),
            knows_degrees: self.knows_degrees,
        }
    }

    /// All that may be seen of a pair, from what speaks most for a link to what speaks most against it.
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        let nothing = vec![Outcome { nats: 0.0, if_linked: 1.0, if_not: 1.0 }];
        self.pair.iter().fold(nothing, |seen, observation| both(&seen, &observation.outcomes()))
    }

    /// What a server knows about a node's expected degree `degree`, as the variance of an unbiased estimate, in links.
    ///
    /// A number of links is Poisson about the expected degree, so the variance is at least `degree`. Reports of degrees
    /// and bits of lists tell the number of links independently of each other. What bits tell of it is the Fisher
    /// information of the share of linked pairs in a row of `n` of them.
    pub(crate) fn variance_of_degree(&self, degree: f64, n: f64, outcomes: &[Outcome]) -> f64 {
        if self.knows_degrees {
            return 0.0;
        }
        let share = degree / n;
        let terms = outcomes.iter().map(|seen| {
            let difference = seen.if_linked - seen.if_not;
            let total = share * seen.if_linked + (1.0 - share) * seen.if_not;
            if total > 0.0 { difference * difference / total } else { 0.0 }
        });
        let information: f64 = terms.sum();
        let of_bits = (n / information - degree).max(0.0);
        let of_reports: f64 = self.degrees.iter().map(|epsilon| epsilon * epsilon / 2.0).sum();
        degree + 1.0 / (1.0 / of_bits + of_reports)
    }
}

impl Observation {
    /// Number of intervals between the two extremes of Laplace noise. An interval hides where in it the noisy bit lies, which a
    /// server knows: with 8 of them, the share of links that it finds would come out up to half a point too low, and with 16 some tenth
    /// of a point. The time grows with their number.
    const INTERVALS: u32 = 16;

    /// Entropy in bits of one noisy bit in a list of which `density` are ones, which no code of the list falls below; none
    /// for other noise.
    #[must_use]
    pub fn entropy(self, density: f64) -> Option<f64> {
        if self.law != Law::RandomizedResponse {
            return None;
        }
        let flip = 1.0 / (1.0 + libm::exp(self.epsilon));
        let ones = flip + (1.0 - 2.0 * flip) * density;
        let term = |share: f64| if share > 0.0 { -share * libm::log2(share) } else { 0.0 };
        Some(term(ones) + term(1.0 - ones))
    }

    fn outcomes(self) -> Vec<Outcome> {
        let epsilon = self.epsilon;
        let seen = |if_linked: f64, if_not: f64| Outcome { nats: libm::log(if_linked / if_not), if_linked, if_not };
        match self.law {
            Law::RandomizedResponse => {
                let flip = 1.0 / (1.0 + libm::exp(epsilon));
                vec![seen(1.0 - flip, flip), seen(flip, 1.0 - flip)]
            }
            // Above 1 and below 0 a noisy bit says all that it can; between, its odds are e^{ε (2x − 1)}.
            Law::Laplace => {
                let tail = |distance: f64| if distance == 0.0 { 0.5 } else { 0.5 * libm::exp(-epsilon * distance) };
                let end = |k: u32| f64::from(k) / f64::from(Self::INTERVALS);
                let between = (0..Self::INTERVALS).rev().map(|k| {
                    let (from, to) = (end(k), end(k + 1));
                    seen(tail(1.0 - to) - tail(1.0 - from), tail(from) - tail(to))
                });
                let (first, last) = (seen(0.5, tail(1.0)), seen(tail(1.0), 0.5));
                let all = std::iter::once(first).chain(between).chain(std::iter::once(last));
                all.filter(|seen| seen.if_linked > 0.0 || seen.if_not > 0.0).collect()
            }
        }
    }
}

/// What may be seen by two independent looks. Outcomes that say the same are one.
fn both(a: &[Outcome], b: &[Outcome]) -> Vec<Outcome> {
    /// Outcomes that differ by less are equal but for rounding.
    const SAME: f64 = 1e-9;
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    let joint = pairs.map(|(a, b)| Outcome {
        nats: a.nats + b.nats,
        if_linked: a.if_linked * b.if_linked,
        if_not: a.if_not * b.if_not,
    });
    // Where nothing protects a bit, two looks cannot contradict each other.
    let mut joint: Vec<Outcome> = joint.filter(|seen| seen.if_linked > 0.0 || seen.if_not > 0.0).collect();
    joint.sort_by(|a, b| b.nats.total_cmp(&a.nats));
    let mut merged: Vec<Outcome> = Vec::new();
    for seen in joint {
        match merged.last_mut() {
            Some(last) if last.nats == seen.nats || last.nats - seen.nats < SAME => {
                last.if_linked += seen.if_linked;
                last.if_not += seen.if_not;
            }
            _ => merged.push(seen),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one look tells on average where there is a link is the divergence of two Laplace laws whose means are 1 apart, which is
    /// `ε + e^{-ε} - 1`. Intervals lose little of it.
    #[test]
    fn intervals_lose_little_of_a_noisy_bit() {
        for epsilon in [0.5_f64, 2.0, 8.0, 16.0] {
            let outcomes = Observation { law: Law::Laplace, epsilon }.outcomes();
            let told: f64 = outcomes.iter().map(|seen| seen.if_linked * seen.nats).sum();
            let whole = epsilon + (-epsilon).exp() - 1.0;
            assert!(told <= whole && told > 0.994 * whole, "{epsilon}: {told} of {whole}");
        }
    }
}
