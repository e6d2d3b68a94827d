//! How well scores tell links from other pairs, at every threshold.

use veilgraph_bounds::{Tail, clopper_pearson};
use veilgraph_graph::{Level, Levels, Ranking};

/// The ROC curve of scored pairs: pairs of equal scores come together.
#[derive(Clone, Debug, PartialEq)]
pub struct Roc(Levels);

/// A share with its interval of 95 % (Clopper, Pearson 1934).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What an attacker has who takes so many pairs with the largest scores for links. Where several pairs share the last
/// score, each counts by the chance that it is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claimed {
    /// Share of the taken pairs that are links.
    pub precision: f64,
    /// Share of the links that are taken.
    pub recall: f64,
}

impl Claimed {
    /// Harmonic mean of both.
    #[must_use]
    pub fn f1(self) -> f64 {
        let sum = self.precision + self.recall;
        if sum == 0.0 { 0.0 } else { 2.0 * self.precision * self.recall / sum }
    }
}

impl Roc {
    /// Ranks pairs of a score and whether they are a link; none if links or other pairs are missing, or a score is no
    /// number.
    #[must_use]
    pub fn of(pairs: Vec<(f64, bool)>) -> Option<Self> {
        Levels::of(pairs).map(Self)
    }

    /// How well the scores rank links above other pairs.
    #[must_use]
    pub fn ranking(&self) -> Ranking {
        self.0.ranking()
    }

    /// Number of links.
    #[must_use]
    pub fn n_links(&self) -> usize {
        self.0.all().links
    }

    /// Number of pairs.
    #[must_use]
    pub fn n_pairs(&self) -> usize {
        self.0.all().pairs()
    }

    /// Points `(false positive rate, true positive rate)`, one for every distinct score, from (0, 0) to (1, 1).
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let all = self.0.all();
        let point =
            move |level: &Level| (level.others as f64 / all.others as f64, level.links as f64 / all.links as f64);
        std::iter::once((0.0, 0.0)).chain(self.0.at_least().iter().map(point))
    }

    /// The largest share of links above a score that at most a share `rate` of the other pairs reaches.
    #[must_use]
    pub fn true_positive_rate_at(&self, rate: f64) -> Share {
        let all = self.0.all();
        // A rate times a number of pairs that is whole may be rounded down.
        let most = rate * all.others as f64 * (1.0 + 1e-12);
        let fits = self.0.at_least().iter().take_while(|level| level.others as f64 <= most);
        let links = fits.last().map_or(0, |level| level.links);
        Share {
            value: links as f64 / all.links as f64,
            low: clopper_pearson(links as u64, all.links as u64, 0.025, Tail::Lower),
            high: clopper_pearson(links as u64, all.links as u64, 0.025, Tail::Upper),
        }
    }

    /// What an attacker has who takes the `n_claimed` pairs with the largest scores for links.
    #[must_use]
    pub fn claimed(&self, n_claimed: usize) -> Claimed {
        let n_claimed = n_claimed.clamp(1, self.n_pairs());
        let levels = self.0.at_least();
        let next = levels.partition_point(|level| level.pairs() < n_claimed);
        let before = if next == 0 { Level::default() } else { levels[next - 1] };
        let level = levels[next];
        let n_before = before.pairs();
        let share = (n_claimed - n_before) as f64 / (level.pairs() - n_before) as f64;
        let links = before.links as f64 + share * (level.links - before.links) as f64;
        Claimed { precision: links / n_claimed as f64, recall: links / self.n_links() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roc() -> Roc {
        let links = [(9.0, true), (7.0, true), (5.0, true), (1.0, true)];
        let others = [(8.0, false), (5.0, false), (5.0, false), (3.0, false), (1.0, false)];
        Roc::of([&links[..], &others].concat()).expect("both kinds")
    }

    #[test]
    fn points_go_from_none_to_all() {
        let points: Vec<(f64, f64)> = roc().points().collect();
        assert_eq!(points, [(0.0, 0.0), (0.0, 0.25), (0.2, 0.25), (0.2, 0.5), (0.6, 0.75), (0.8, 0.75), (1.0, 1.0)]);
        assert_eq!((roc().n_links(), roc().n_pairs()), (4, 9));
    }

    #[test]
    fn rates_are_those_of_the_best_threshold_that_fits() {
        for (rate, expected) in [(0.0, 0.25), (0.1, 0.25), (0.2, 0.5), (0.59, 0.5), (0.6, 0.75), (1.0, 1.0)] {
            let Share { value, low, high } = roc().true_positive_rate_at(rate);
            assert_eq!(value, expected, "{rate}");
            assert!(low <= value && value <= high && low >= 0.0 && high <= 1.0, "{rate}: {low} {high}");
        }
    }

    /// In double precision, 3e-4 times 10,000 is less than 3.
    #[test]
    fn a_rate_that_is_a_whole_number_of_pairs_reaches_it() {
        let others = (0..10_000).map(|at| (if at < 3 { 5.0 } else { 0.0 }, false));
        let roc = Roc::of(others.chain([(9.0, true), (5.0, true), (0.0, true)]).collect()).expect("both kinds");
        assert_eq!(roc.true_positive_rate_at(3e-4).value, 2.0 / 3.0);
        assert_eq!(roc.true_positive_rate_at(2.9e-4).value, 1.0 / 3.0);
    }

    #[test]
    fn pairs_of_equal_scores_count_by_their_chance() {
        assert_eq!(roc().claimed(1), Claimed { precision: 1.0, recall: 0.25 });
        assert_eq!(roc().claimed(2), Claimed { precision: 0.5, recall: 0.25 });
        // One of three pairs at 5, of which one is a link.
        let four = roc().claimed(4);
        assert!((four.precision - (2.0 + 1.0 / 3.0) / 4.0).abs() < 1e-12, "{four:?}");
        assert_eq!(roc().claimed(100), Claimed { precision: 4.0 / 9.0, recall: 1.0 });
        assert_eq!(Claimed { precision: 0.0, recall: 0.0 }.f1(), 0.0);
        assert_eq!(Claimed { precision: 1.0, recall: 0.5 }.f1(), 2.0 / 3.0);
    }

    #[test]
    fn what_cannot_be_ranked_is_refused() {
        assert!(Roc::of(vec![(1.0, true)]).is_none());
        assert!(Roc::of(vec![(1.0, false)]).is_none());
        assert!(Roc::of(vec![(f64::NAN, true), (0.0, false)]).is_none());
    }
}
