//! Beliefs as people read them.

use super::answer::Answer;
use super::range::Range;

/// A share as a percentage, with as many digits as say something.
#[must_use]
pub fn percent(share: f64) -> String {
    rounded(share, f64::round)
}

/// A bound from above as a percentage: no smaller than it is.
#[must_use]
pub fn percent_at_most(share: f64) -> String {
    rounded(share, f64::ceil)
}

fn rounded(share: f64, to_integer: fn(f64) -> f64) -> String {
    let (percent, left) = (100.0 * share, 100.0 * (1.0 - share));
    // What is an integer but for rounding is one.
    let digits = |value: f64| if (value - value.round()).abs() < 1e-6 { value.round() } else { to_integer(value) };
    if share > 0.0 && percent < 0.001 {
        let scale = 10_f64.powf(1.0 - percent.log10().floor());
        return format!("{:.1e} %", digits(percent * scale) / scale);
    }
    // Two digits of few per cent, and, because nearly everything is not everything, of what is left, down to a millionth.
    let two_digits = |value: f64| (1.0 - (value * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 6.0) as usize;
    let decimals = match percent {
        few if few > 0.0 && few < 10.0 => two_digits(few),
        most if most >= 99.0 && left > 0.0 => two_digits(left),
        _ => 0,
    };
    let scale = 10_f64.powf(decimals as f64);
    let digits = digits(percent * scale);
    let text = format!("{:.decimals$}", digits / scale);
    let is_whole = digits == 100.0 * scale;
    format!("{} %", if is_whole { "100" } else { &text })
}

/// A range of shares.
#[must_use]
pub fn percents(range: Range) -> String {
    joined([percent(range.low), percent(range.high)], "")
}

/// A range of bounds from above.
#[must_use]
pub fn percents_at_most(range: Range) -> String {
    joined([percent_at_most(range.low), percent_at_most(range.high)], "")
}

/// A range of shares within a sentence.
#[must_use]
pub fn between(range: Range) -> String {
    joined([percent(range.low), percent(range.high)], "between ")
}

/// A range of bounds from above within a sentence.
#[must_use]
pub fn between_at_most(range: Range) -> String {
    joined([percent_at_most(range.low), percent_at_most(range.high)], "between ")
}

fn joined([low, high]: [String; 2], before: &str) -> String {
    match before {
        _ if low == high => low,
        "" => format!("{} to {high}", low.trim_end_matches(" %")),
        before => format!("{before}{low} and {high}"),
    }
}

/// Nats with at most two decimals, or two digits if they are few.
#[must_use]
pub fn nats(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.005 {
        format!("{value:.1e}")
    } else {
        ((value * 100.0).round() / 100.0).to_string()
    }
}

/// A budget with its unit.
#[must_use]
pub fn in_nats(value: f64) -> String {
    if value == 1.0 { "1 nat".to_owned() } else { format!("{} nats", nats(value)) }
}

/// The factor on odds that these nats allow, never rounded down.
#[must_use]
pub fn odds_at_most(nats: f64) -> String {
    // Sums of decimals are off by some 1e-16.
    let up = |value: f64, digits: f64| (value * digits * (1.0 - 1e-12)).ceil() / digits;
    match nats.exp() {
        factor if factor < 10.0 => up(factor, 100.0).to_string(),
        factor if factor < 1e4 => up(factor, 1.0).to_string(),
        _ if nats.is_infinite() => "any number".to_owned(),
        factor if factor.is_infinite() => format!("e^{}", up(nats, 1.0)),
        factor => {
            let power = factor.log10().floor();
            match up(factor / 10.0_f64.powf(power), 1000.0) {
                mantissa if mantissa < 10.0 => format!("{mantissa}e{power}"),
                _ => format!("1e{}", power + 1.0),
            }
        }
    }
}

/// The verdict; where only a bound is known, it is about the worst that can be.
#[must_use]
pub fn verdict(answer: &Answer) -> String {
    let words = answer.verdict.words();
    let is_sound = answer.question.seen.as_ref().is_none_or(|seen| seen.is_sound);
    let if_held = if is_sound { "" } else { "if its cost held: " };
    let at_worst = if answer.is_bound() { "at worst: " } else { "" };
    format!("{if_held}{at_worst}{words}")
}

/// The largest share, as a bound.
#[must_use]
pub fn bounded(range: Range) -> String {
    format!("at most {}", percent_at_most(range.high))
}

/// One answer as sentences.
#[must_use]
pub fn sentence(answer: &Answer, base: Range) -> String {
    let mechanism = &answer.question.series;
    let Some(seen) = &answer.question.seen else {
        return format!("{mechanism}: nothing about links leaves a node.");
    };
    if seen.per_link.is_infinite() {
        return format!("{mechanism}: {}. The server is told which pairs are linked.", verdict(answer));
    }
    let looks = match seen.signal.pair.len() {
        0 => "No list is sent, only degrees:".to_owned(),
        _ if seen.is_bound => "Whatever the reports say,".to_owned(),
        1 => "Where the report of a pair claims a link,".to_owned(),
        2 => "Where both ends of a pair claim a link,".to_owned(),
        looks => format!("Where all {looks} reports of a pair claim a link,"),
    };
    let reached = if seen.is_bound {
        format!("to {} at most", between_at_most(answer.at_most))
    } else {
        format!("to {}", between(answer.all_claim))
    };
    let found = if seen.is_bound {
        format!("{} of the links, and after a second release {}", bounded(answer.found), bounded(answer.found_twice))
    } else {
        format!(
            "{} of the links ({} of those of hubs, {} of those between nodes of few links), and after a second release {}",
            between(answer.found),
            between(answer.found_of_hubs),
            between(answer.found_of_leaves),
            between(answer.found_twice)
        )
    };
    let unsound = if seen.is_sound { "" } else { " The cost does not hold as executed, so none of this holds." };
    format!(
        "{mechanism} at {}: {}. {looks} the server's belief about an average pair rises from {} {reached}, and about a pair of \
         two hubs from {} to {}. To a server that knows all other links, the reports can raise the belief about an average pair to {} \
         at most. A server that names as many pairs as there are links finds {found}.{unsound}",
        in_nats(answer.question.epsilon),
        verdict(answer),
        between(base),
        between(answer.hubs_before),
        between(answer.hubs_after),
        between_at_most(answer.at_most),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_the_digits_that_matter() {
        let texts = [0.0, 1e-6, 0.000_669, 0.0142, 0.657, 0.998_7, 0.999_99, 1.0].map(percent);
        assert_eq!(texts, ["0 %", "1.0e-4 %", "0.067 %", "1.4 %", "66 %", "99.87 %", "99.9990 %", "100 %"]);
        // A bound is never below what it bounds, and never rounds to more digits than others have.
        assert_eq!([9.838e-9, 7e-8].map(percent_at_most), ["9.9e-7 %", "7.0e-6 %"]);
        let bounds = [0.0, 0.011_1, 0.1, 0.971, 0.99, 0.990_89, 0.999_830_1, 1.0 - 1e-12].map(percent_at_most);
        assert_eq!(bounds, ["0 %", "1.2 %", "10 %", "98 %", "99.0 %", "99.09 %", "99.984 %", "100 %"]);
        assert_eq!(percents(Range { low: 0.1, high: 0.2 }), "10 to 20 %");
        assert_eq!(percents(Range { low: 0.2, high: 0.2 }), "20 %");
    }

    #[test]
    fn factors_are_never_rounded_down() {
        assert_eq!([0.0, 0.3, 1.44, 8.0, 12.0].map(odds_at_most), ["1", "1.35", "4.23", "2981", "1.628e5"]);
        assert_eq!([9.4, 99_999_f64.ln(), 2071.3].map(odds_at_most), ["1.209e4", "1e5", "e^2072"]);
        assert_eq!(odds_at_most(f64::INFINITY), "any number");
    }
}
