//! This module scores how well numbers tell links from other pairs.

/// Holds how well scores rank links above other pairs. Pairs with equal scores share a rank, whatever their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// The probability that a link is scored above another pair, where equal scores count one half (Mann, Whitney 1947):
    /// the area under the ROC curve.
    pub area_under_curve: f64,
    /// The mean, over all links, of the share of links among the pairs with at least their score.
    pub average_precision: f64,
}

/// Counts links and other pairs at every score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Counts of the pairs with at least a score, for every score from the largest down. There is at least one link and
    /// one other pair.
    at_least: Vec<Level>,
}

/// Counts pairs with at least a certain score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// So many are links.
    pub links: usize,
    /// So many are not.
    pub others: usize,
}

impl Level {
    /// Returns the number of pairs.
    #[must_use]
    pub fn pairs(self) -> usize {
        self.links + self.others
    }
}

impl Levels {
    /// Sorts pairs of a score and whether they are a link. Returns `None` if links or other pairs are missing, or if a
    /// score is no number.
    #[must_use]
    pub fn of(mut pairs: Vec<(f64, bool)>) -> Option<Self> {
        if pairs.iter().any(|pair| pair.0.is_nan()) {
            return None;
        }
        pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut at_least: Vec<Level> = Vec::new();
        let mut so_far = Level::default();
        for level in pairs.chunk_by(|a, b| a.0 == b.0) {
            let links = level.iter().filter(|pair| pair.1).count();
            so_far = Level { links: so_far.links + links, others: so_far.others + level.len() - links };
            at_least.push(so_far);
        }
        (so_far.links > 0 && so_far.others > 0).then_some(Self { at_least })
    }

    /// Returns the counts of the pairs with at least a score, for every score from the largest down.
    #[must_use]
    pub fn at_least(&self) -> &[Level] {
        &self.at_least
    }

    /// Returns the counts of all pairs.
    #[must_use]
    pub fn all(&self) -> Level {
        self.at_least.last().copied().unwrap_or_default()
    }

    /// Returns how well the scores rank links above other pairs.
    #[must_use]
    pub fn ranking(&self) -> Ranking {
        let all = self.all();
        let mut above = Level::default();
        // Each link counts the other pairs below it twice, and those beside it once.
        let (mut wins, mut precision) = (0, 0.0);
        for &level in &self.at_least {
            let links = level.links - above.links;
            wins += links * (2 * (all.others - level.others) + level.others - above.others);
            precision += links as f64 * level.links as f64 / level.pairs() as f64;
            above = level;
        }
        let area_under_curve = wins as f64 / (2.0 * all.links as f64 * all.others as f64);
        Ranking { area_under_curve, average_precision: precision / all.links as f64 }
    }
}

impl Ranking {
    /// Ranks pairs of a score and whether they are a link. Returns `None` if links or other pairs are missing, or if a
    /// score is no number.
    #[must_use]
    pub fn of(pairs: Vec<(f64, bool)>) -> Option<Self> {
        Levels::of(pairs).map(|levels| levels.ranking())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores with many ties, against the definitions over all pairs of a link and another pair.
    #[test]
    fn the_scores_are_their_definitions() {
        let pairs: Vec<(f64, bool)> = (0..60).map(|k| (f64::from(k * k % 11), k % 3 == 0)).collect();
        let (links, others): (Vec<(f64, bool)>, Vec<_>) = pairs.iter().partition(|pair| pair.1);
        let beats = |a: f64, b: f64| if a == b { 0.5 } else { f64::from(u8::from(a > b)) };
        let wins: f64 = links.iter().flat_map(|a| others.iter().map(|b| beats(a.0, b.0))).sum();
        let share = |least: f64| {
            let above = |pair: &&(f64, bool)| pair.0 >= least;
            links.iter().filter(above).count() as f64 / pairs.iter().filter(above).count() as f64
        };
        let precision: f64 = links.iter().map(|link| share(link.0)).sum::<f64>() / links.len() as f64;
        let found = Ranking::of(pairs.clone()).expect("both kinds");
        assert!((found.area_under_curve - wins / (links.len() * others.len()) as f64).abs() < 1e-12);
        assert!((found.average_precision - precision).abs() < 1e-12);
        let same = Ranking::of(vec![(1.0, true), (1.0, false)]).expect("both kinds");
        assert_eq!(same, Ranking { area_under_curve: 0.5, average_precision: 0.5 });
        assert!(
            Ranking::of(vec![(1.0, true)]).is_none() && Ranking::of(vec![(f64::NAN, true), (0.0, false)]).is_none()
        );
    }
}
