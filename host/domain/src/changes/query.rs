//! The parameters of `/changes`, each validated by itself (contract-1-order). `since` can only be
//! validated with the dataset at hand.

use crate::ValidationError;
use crate::query::{
    LoadedPlugins, OutputParameters, Selection, is_condition, last_value, parse_data, refuse_apply,
    scalar,
};

/// Rows of an answer when `limit` is omitted (contract-4-changes-limit).
pub const DEFAULT_LIMIT: u64 = 10_000;

/// Parameters of `/data` that mean the same here; encoders' own (with a dot) do too.
const SHARED_PARAMETERS: [&str; 3] = ["limit", "format", "geometry"];

/// Parses `pairs` (from [`crate::query::parse_pairs`]) as [`parse_data`] does, with another
/// default for `limit`, which is at least 1 here. `apply` is refused: rows without the transform
/// would be wrong. What else `/data` knows is ignored like any other unknown parameter.
///
/// # Errors
/// Every problem there is.
pub fn parse_query<'a>(
    pairs: &[(String, String)],
    plugins: impl Into<LoadedPlugins<'a>>,
) -> Result<(Selection, OutputParameters), Vec<ValidationError>> {
    let limit =
        last_value(pairs, "limit").map(|raw| scalar::parse_positive("limit", raw, u64::MAX));
    let shared: Vec<(String, String)> = pairs
        .iter()
        .filter(|(name, _)| {
            let is_option = name.contains('.') && !is_condition(name);
            SHARED_PARAMETERS.contains(&name.as_str()) || is_option
        })
        .cloned()
        .collect();
    let parsed = parse_data(&shared, plugins);
    let apply = refuse_apply(last_value(pairs, "apply"));
    match (limit.transpose(), parsed, apply) {
        (Ok(limit), Ok((selection, output)), None) => {
            let limit = limit.unwrap_or(DEFAULT_LIMIT);
            Ok((Selection { limit, ..selection }, output))
        }
        (limit, parsed, apply) => {
            let others = parsed.err().unwrap_or_default();
            Err(limit
                .err()
                .into_iter()
                .chain(others.into_iter().filter(|problem| problem.loc[1] != "limit"))
                .chain(apply)
                .collect())
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::query::parse_pairs;

    fn problems(raw: &str) -> Vec<(String, String)> {
        let problems = parse_query(&parse_pairs(raw), &["json", "csv"]).unwrap_err();
        problems.into_iter().map(|problem| (problem.loc[1].clone(), problem.msg)).collect()
    }

    #[test]
    fn limit_is_at_least_one_and_ten_thousand_by_default_contract_4() {
        let limit = |raw: &str| parse_query(&parse_pairs(raw), &["json"]).unwrap().0.limit;
        assert_eq!(
            (limit(""), limit("limit=1"), limit("limit=0&limit=+7"), limit("since=x&start=y")),
            (10_000, 1, 7, 10_000)
        );
        let too_few = "Input should be greater than or equal to 1";
        for raw in ["limit=0", "limit=-5", "limit=-0"] {
            assert_eq!(problems(raw), [("limit".to_owned(), too_few.to_owned())], "{raw}");
        }
        assert_eq!(
            problems("limit=x")[0].1,
            "Input should be a valid integer, unable to parse string as an integer"
        );
    }

    #[test]
    fn every_problem_is_told_at_once_contract_1() {
        let names: Vec<String> =
            problems("geometry=7&format=xml&limit=0").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["limit", "format", "geometry"]);
    }

    #[test]
    fn changes_go_through_no_transform_contract_16() {
        let names: Vec<String> =
            problems("apply=growth&limit=0").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["limit", "apply"]);
    }

    #[test]
    fn filters_of_data_are_ignored() {
        let (selection, output) = parse_query(
            &parse_pairs("columns=a&dimensions=x&cursor=y&snapshot=z&envelope=true&csv.null=-&where.a=1&sort=a&last=0"),
            &["json"],
        )
        .unwrap();
        let (plain, _) = parse_data(&[], &["json"]).unwrap();
        assert_eq!(selection, Selection { limit: DEFAULT_LIMIT, ..plain });
        assert!(!output.envelope);
        assert_eq!(output.options, [("csv.null".to_owned(), "-".to_owned())]);
    }
}
