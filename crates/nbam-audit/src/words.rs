//! Numbers and findings in words that everybody reads the same way.

use crate::{Evidence, Scored, Summary, Targets};

/// A space at which no line breaks, between a number and its unit.
const NO_BREAK: char = '\u{a0}';

/// A count with thousands separated: `1,797`.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun: `1 row`, `12 rows`.
pub(crate) fn counted(value: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(value), if value == 1 { "" } else { "s" })
}

/// A share as a percentage with as many digits as it deserves: `19 %`, `3.4 %`, `0.021 %`, `over 99.9 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value <= 0.0 {
        format!("0{NO_BREAK}%")
    } else if value < 0.001 {
        format!("under{NO_BREAK}0.001{NO_BREAK}%")
    } else if value < 0.0995 {
        format!("{value:.3}{NO_BREAK}%")
    } else if value < 0.995 {
        format!("{value:.2}{NO_BREAK}%")
    } else if value < 9.95 {
        format!("{value:.1}{NO_BREAK}%")
    } else if value < 99.0 {
        format!("{value:.0}{NO_BREAK}%")
    } else if value < 99.95 {
        format!("{value:.1}{NO_BREAK}%")
    } else if value < 100.0 {
        format!("over{NO_BREAK}99.9{NO_BREAK}%")
    } else {
        format!("100{NO_BREAK}%")
    }
}

/// The chance of a single row. A model's certainty about one row deserves no more than `over 99.9 %`.
pub(crate) fn chance(probability: f64) -> String {
    if probability >= 0.9995 {
        format!("over{NO_BREAK}99.9{NO_BREAK}%")
    } else if probability < 0.001 {
        format!("under{NO_BREAK}0.1{NO_BREAK}%")
    } else {
        percent(probability)
    }
}

/// The same for a narrow column: `> 99.9 %`.
pub(crate) fn short_chance(probability: f64) -> String {
    chance(probability).replace("over", ">").replace("under", "<")
}

/// A percentage that somebody chose, with all its digits and no more: `5 %`, `2.5 %`.
pub(crate) fn chosen_percent(share: f64) -> String {
    // Rounding hides that 0.07 times 100 is not exactly 7.
    format!("{}{NO_BREAK}%", (share * 1e8).round() / 1e6)
}

/// A measured number with four significant digits, in scientific notation only where plain digits would be long.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value.is_nan() {
            "none".to_owned()
        } else if value > 0.0 {
            "∞".to_owned()
        } else {
            "−∞".to_owned()
        };
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}").replace('-', "−");
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

/// A factor in words that need no exponent: `3.2 times`, `190 times`, `more than a million times`.
fn times(factor: f64) -> String {
    if factor >= 1e6 {
        "more than a million times".to_owned()
    } else if factor >= 10.0 {
        // Two significant digits are all that a ratio of two model likelihoods deserves.
        let step = 10f64.powf(factor.log10().floor() - 1.0);
        format!("{} times", count(((factor / step).round() * step) as usize))
    } else {
        format!("{factor:.1} times")
    }
}

/// Cuts a text to about `width` columns, wide characters counted twice, and marks the cut.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let columns = |character: char| if character as u32 >= 0x1100 { 2 } else { 1 };
    if text.chars().map(columns).sum::<usize>() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let mut cut = String::new();
    for character in text.chars() {
        used += columns(character);
        if used > width {
            break;
        }
        cut.push(character);
    }
    cut.push('…');
    cut
}

/// What the targets are called: `label` or `value`.
pub(crate) fn noun(is_classification: bool) -> &'static str {
    if is_classification { "label" } else { "value" }
}

/// The estimate in one sentence.
pub(crate) fn rate_sentence(summary: &Summary) -> String {
    let noun = noun(summary.task == "classification");
    let rate = &summary.rate;
    let rows = counted(summary.rows, noun);
    let interval = format!("between {} and {}", percent(rate.low), percent(rate.high));
    let looks = if summary.rows == 1 { "looks" } else { "look" };
    let is_warned = |code: &str| summary.warnings.iter().any(|warning| warning.code == code);
    if is_warned("no_signal") {
        return format!("How many of the {rows} are wrong cannot be said: the features do not predict them.");
    }
    let share = if rate.mean * (summary.rows as f64) < 0.5 {
        format!("Practically none of the {rows} {looks} wrong")
    } else if percent(rate.low) == percent(rate.high) {
        format!("About {} of the {rows} {looks} wrong", percent(rate.mean))
    } else {
        format!("About {} of the {rows} {looks} wrong ({interval})", percent(rate.mean))
    };
    let limit =
        if is_warned("unclear_borders") { "; where classes are alike, it cannot be told" } else { "" };
    format!("{share}{limit}.")
}

/// The flags in one or two sentences.
pub(crate) fn flag_sentence(flagged: usize, expected_fdr: f64) -> String {
    let false_flags = expected_fdr * flagged as f64;
    match flagged {
        0 => "No row is flagged: none is suspicious enough at the chosen share of false alarms.".to_owned(),
        1 => format!("1 row is flagged; it is a false alarm with a chance of {}.", percent(expected_fdr)),
        _ if false_flags < 0.5 => {
            format!("{} rows are flagged; hardly any of those flags should be a false alarm.", count(flagged))
        }
        _ if false_flags < 1.5 => {
            format!(
                "{} rows are flagged; about one of those flags is expected to be a false alarm.",
                count(flagged)
            )
        }
        _ => format!(
            "{} rows are flagged; about {} of those flags are expected to be false alarms.",
            count(flagged),
            count(false_flags.round() as usize)
        ),
    }
}

/// What the features explain of a regression's targets: errors that are smaller than the rest cannot be seen.
pub(crate) fn explained_sentence(share: f64) -> String {
    let part = if share < 0.005 { "practically none".to_owned() } else { percent(share) };
    format!(
        "The features explain {part} of the variance of the values that look right; the rest passes for noise, in which smaller errors hide."
    )
}

/// Why a row is suspected, for someone who never heard of a likelihood. The row must exist.
pub(crate) fn evidence_sentence(scored: &Scored, row: usize, evidence: &Evidence) -> String {
    let posterior = scored.posterior();
    let (prior, contamination) = (posterior.prior[row], posterior.contamination[row]);
    let noun = noun(matches!(scored.targets(), Targets::Classification(_)));
    let factor = evidence.bayes_factor();
    let weight = if factor.is_nan() {
        String::new()
    } else if factor >= 1.05 {
        format!(" A wrong {noun} explains this row {} better than a right one.", times(factor))
    } else if factor > 0.95 {
        format!(" A wrong {noun} explains this row as well as a right one.")
    } else {
        format!(" A right {noun} explains this row {} better than a wrong one.", times(1.0 / factor))
    };
    let first = match scored.targets() {
        Targets::Classification(targets) => {
            let given = shorten(&targets.classes[targets.given[row]], 60);
            if targets.given[row] == targets.predicted[row] {
                format!("The features agree with the label “{given}”.")
            } else {
                let predicted = shorten(&targets.classes[targets.predicted[row]], 60);
                format!("The label says “{given}”; the features look like “{predicted}”.")
            }
        }
        Targets::Regression(targets) => {
            let distance = targets.given[row] - targets.predicted[row];
            let spread = targets.predicted_sd[row];
            let side = if distance < 0.0 { "below" } else { "above" };
            let spreads = if spread > 0.0 {
                format!(
                    ", {} times its usual spread of {}",
                    number((distance / spread).abs()),
                    number(spread)
                )
            } else {
                String::new()
            };
            format!(
                "The value {} lies {} {side} the prediction of {}{spreads}.",
                number(targets.given[row]),
                number(distance.abs()),
                number(targets.predicted[row])
            )
        }
    };
    format!(
        "{first} Before the {noun} was looked at, the chance of a wrong one was {}.{weight} \
         Together: {} that this {noun} is wrong.",
        chance(prior),
        chance(contamination)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!((counted(1, "row"), counted(0, "row")), ("1 row".into(), "0 rows".into()));
    }

    #[test]
    fn percentages_have_the_digits_they_deserve() {
        let shares = [0.0, 1e-9, 0.0002, 0.0034, 0.034, 0.0999, 0.19, 0.994, 0.9999, 1.0];
        let texts = shares.map(|share| percent(share).replace(NO_BREAK, " "));
        let expected = [
            "0 %",
            "under 0.001 %",
            "0.020 %",
            "0.34 %",
            "3.4 %",
            "10 %",
            "19 %",
            "99.4 %",
            "over 99.9 %",
            "100 %",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn chosen_percentages_keep_their_digits() {
        let texts = [0.05, 0.07, 0.025, 0.0].map(|share| chosen_percent(share).replace(NO_BREAK, " "));
        assert_eq!(texts, ["5 %", "7 %", "2.5 %", "0 %"]);
        assert_eq!(short_chance(1.0).replace(NO_BREAK, " "), "> 99.9 %");
    }

    #[test]
    fn numbers_have_four_digits() {
        let values = [0.0, 1.5, -12.3456, 123456.7, 1e-9, 0.00123456, f64::NEG_INFINITY, 100.0];
        let expected = ["0", "1.5", "−12.35", "123457", "1.000e−9", "0.001235", "−∞", "100"];
        assert_eq!(values.map(number), expected);
    }

    #[test]
    fn cutting_respects_characters_and_width() {
        assert_eq!(shorten("airplane", 8), "airplane");
        assert_eq!(shorten("airplanes", 8), "airplan…");
        assert_eq!(shorten("日本語日本語", 7), "日本語…");
    }

    #[test]
    fn flags_are_told_in_the_right_number() {
        assert!(flag_sentence(0, 0.0).starts_with("No row is flagged"));
        assert!(flag_sentence(1, 0.03).starts_with("1 row is flagged; it is a false alarm"));
        assert!(flag_sentence(9, 0.01).contains("hardly any"));
        assert!(flag_sentence(20, 0.05).contains("about one of"));
        assert_eq!(
            flag_sentence(340, 0.05),
            "340 rows are flagged; about 17 of those flags are expected to be false alarms."
        );
    }

    #[test]
    fn factors_are_rounded_to_what_they_mean() {
        assert_eq!(
            [1.26, 9.9, 187.0, 4321.0, 1e9].map(times),
            ["1.3 times", "9.9 times", "190 times", "4,300 times", "more than a million times"]
        );
    }
}
