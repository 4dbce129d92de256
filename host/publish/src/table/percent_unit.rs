//! Percentages: which units name them. Clients get proportions (spec-2.2-proportions,
//! contract-7-percent), so a column in percent is not published.

/// True where `unit` says that values are percentages: it has a percent sign or the word percent,
/// alone (`%`) or with what they are a share of (`percent of GDP`). Percentage points are
/// differences of percentages, not shares.
pub(crate) fn is_percent(unit: &str) -> bool {
    let lower = unit.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && !is_sign(c))
        .filter(|word| !word.is_empty())
        .collect();
    let is_points = words.iter().any(|word| matches!(*word, "point" | "points"));
    let named = words.iter().any(|word| {
        matches!(*word, "percent" | "percentage" | "percentages" | "pct") || word.contains(is_sign)
    });
    (named || words.windows(2).any(|pair| pair == ["per", "cent"])) && !is_points
}

/// Recognizes the percent sign, and its full-width and small forms.
fn is_sign(c: char) -> bool {
    matches!(c, '%' | '\u{ff05}' | '\u{fe6a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_with_a_percent_sign_or_the_word_percent_are_percentages_contract_7() {
        for unit in [
            "%",
            " % ",
            "percent",
            "Percent",
            "PERCENT",
            "per cent",
            "Per Cent",
            "percentage",
            "pct",
            "\u{ff05}",
            "% of GDP",
            "percent of GDP",
            "Percent, seasonally adjusted",
            "(%)",
            "%/year",
            "% p.a.",
        ] {
            assert!(is_percent(unit), "{unit}");
        }
        for unit in [
            "",
            "proportion",
            "proportion of the labour force",
            "percentage points",
            "% points",
            "percentile",
            "cents per litre",
            "per centimetre",
            "\u{2030}",
            "index",
            "NZD",
            "per 100 people",
            "permille",
        ] {
            assert!(!is_percent(unit), "{unit}");
        }
    }
}
