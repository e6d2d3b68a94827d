//! Protection in words, with the thresholds behind them.

/// What a budget protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Even where all reports claim a link, the belief about a pair stays below the accepted line, for two hubs too.
    Bounded,
    /// The server misses most links.
    Deniable,
    /// It finds at least half of the links of hubs.
    HubsExposed,
    /// It finds at least half of all links.
    MostExposed,
    /// It finds at least nine of ten links.
    NoProtection,
}

impl Verdict {
    /// By the shares of the links, and of those of hubs, that a server finds, and by the belief about a pair of hubs.
    pub(crate) fn of(found: f64, found_of_hubs: f64, belief: f64, at_most_belief: f64) -> Self {
        if found >= 0.9 {
            Self::NoProtection
        } else if found >= 0.5 {
            Self::MostExposed
        } else if found_of_hubs >= 0.5 {
            Self::HubsExposed
        } else if belief > at_most_belief {
            Self::Deniable
        } else {
            Self::Bounded
        }
    }

    /// A name for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bounded => "bounded",
            Self::Deniable => "deniable",
            Self::HubsExposed => "hubs-exposed",
            Self::MostExposed => "most-exposed",
            Self::NoProtection => "no-protection",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Bounded => "plausible deniability, for two hubs too",
            Self::Deniable => "plausible deniability for most links",
            Self::HubsExposed => "links of hubs exposed",
            Self::MostExposed => "most links exposed",
            Self::NoProtection => "practically no protection",
        }
    }

    /// Whether most links, those of hubs too, stay deniable.
    #[must_use]
    pub fn protects(self) -> bool {
        self <= Self::Deniable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_that_holds_is_said() {
        assert_eq!(Verdict::of(0.95, 0.99, 1.0, 0.5), Verdict::NoProtection);
        assert_eq!(Verdict::of(0.5, 0.9, 1.0, 0.5), Verdict::MostExposed);
        assert_eq!(Verdict::of(0.3, 0.5, 1.0, 0.5), Verdict::HubsExposed);
        assert_eq!(Verdict::of(0.3, 0.4, 0.7, 0.5), Verdict::Deniable);
        assert_eq!(Verdict::of(0.1, 0.2, 0.3, 0.5), Verdict::Bounded);
        assert!(Verdict::Deniable.protects() && !Verdict::HubsExposed.protects());
    }
}
