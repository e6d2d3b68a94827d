//! Days of times.

/// The day of a time in seconds since 1970, as in `2026-11-24`, at the meridian of Greenwich.
#[must_use]
pub fn date(seconds: u64) -> String {
    // Counted from the first of March of the year 0, so that a leap day is the last day of its year.
    let days = seconds / 86_400 + 719_468;
    // 400 years have 146,097 days, a century without its leap day 36,524, and four years 1,461.
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Five months from March, or from August, have 153 days.
    let month_after_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_after_march + 2) / 5 + 1;
    let month = if month_after_march < 10 { month_after_march + 3 } else { month_after_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leap days, of the year 2000 too, and the year 2100, which has none.
    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_164_800, "2024-02-29"),
            (1_709_251_199, "2024-02-29"),
            (1_709_251_200, "2024-03-01"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(seconds), day);
        }
    }
}
