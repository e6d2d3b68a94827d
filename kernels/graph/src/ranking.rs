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

impl Ranking {
    /// Ranks pairs of a score and whether they are a link. Returns `None` if links or other pairs are missing, or if a
    /// score is no number.
    #[must_use]
    pub fn of(pairs: &[(f64, bool)]) -> Option<Self> {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let n_links = pairs.iter().filter(|pair| pair.1).count();
        let n_others = pairs.len() - n_links;
        if n_links == 0 || n_others == 0 || pairs.iter().any(|pair| pair.0.is_nan()) {
            return None;
        }
        let (mut links, mut others) = (0, 0);
        // Each link counts the other pairs below it twice, and those beside it once.
        let (mut wins, mut precision) = (0, 0.0);
        for level in pairs.chunk_by(|a, b| a.0 == b.0) {
            let new_links = level.iter().filter(|pair| pair.1).count();
            let new_others = level.len() - new_links;
            links += new_links;
            others += new_others;
            wins += new_links * (2 * (n_others - others) + new_others);
            precision += new_links as f64 * links as f64 / (links + others) as f64;
        }
        let area_under_curve = wins as f64 / (2.0 * n_links as f64 * n_others as f64);
        Some(Self { area_under_curve, average_precision: precision / n_links as f64 })
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
        let found = Ranking::of(&pairs).expect("both kinds");
        assert!((found.area_under_curve - wins / (links.len() * others.len()) as f64).abs() < 1e-12);
        assert!((found.average_precision - precision).abs() < 1e-12);
        let same = Ranking::of(&[(1.0, true), (1.0, false)]).expect("both kinds");
        assert_eq!(same, Ranking { area_under_curve: 0.5, average_precision: 0.5 });
        assert!(Ranking::of(&[(1.0, true)]).is_none() && Ranking::of(&[(f64::NAN, true), (0.0, false)]).is_none());
    }
}
