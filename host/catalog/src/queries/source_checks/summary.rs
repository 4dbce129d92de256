//! Last checks of all sources together, as metrics show them. Reads alone.

use yearbook_domain::{CheckOutcome, DatasetName, FailureCause, Millis};

use crate::queries::sql_enum::RowContext;
use crate::sql::Connection;

/// Sources of retired datasets are not asked, so how their checks ended no longer matters; nor does
/// a failure that a publication by hand followed.
macro_rules! last_checks {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM source_checks c LEFT JOIN datasets d ON d.name = c.dataset
            WHERE c.outcome IS NOT NULL AND d.retired_at IS NULL
                AND (c.outcome <> 'failed' OR d.checked_at IS NULL OR c.ended_at >= d.checked_at) ",
            $rest
        )
    };
}

const COUNT_OUTCOMES: &str = last_checks!("c.outcome, COUNT(*) AS sources", "GROUP BY c.outcome");

/// Oldest first: an operator looks for the cause there first.
const FAILING: &str = last_checks!(
    "c.dataset, c.cause, c.ended_at",
    "AND c.outcome = 'failed' AND c.cause IS NOT NULL ORDER BY c.ended_at, c.dataset LIMIT 1000"
);

/// Last checks of all sources, for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// Sources by the outcome of their last check.
    pub outcomes: Vec<(CheckOutcome, u64)>,
    /// Sources whose last check failed, oldest failure first, 1,000 at most.
    pub failing: Vec<FailingSource>,
}

/// A source whose last check failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingSource {
    /// Its dataset, which need not exist yet.
    pub dataset: DatasetName,
    /// Kind of failure.
    pub cause: FailureCause,
    /// Time of the failure.
    pub failed_at: Millis,
}

pub(super) async fn summary(connection: &mut Connection<'_>) -> Result<CheckSummary, sqlx::Error> {
    let place = RowContext { table: "source_checks", row: "" };
    let counted: Vec<(String, i64)> = connection.query(COUNT_OUTCOMES).all().await?;
    let count = |(outcome, sources): (String, i64)| {
        Ok((place.parse("outcome", &outcome)?, place.count("outcome", sources)?))
    };
    let failing: Vec<(String, String, i64)> = connection.query(FAILING).all().await?;
    let describe = |(dataset, cause, failed_at): (String, String, i64)| {
        let place = RowContext { table: "source_checks", row: &dataset };
        Ok(FailingSource {
            cause: place.parse("cause", &cause)?,
            failed_at: Millis(failed_at),
            dataset: place.parse("dataset", &dataset)?,
        })
    };
    Ok(CheckSummary {
        outcomes: counted.into_iter().map(count).collect::<Result<_, sqlx::Error>>()?,
        failing: failing.into_iter().map(describe).collect::<Result<_, sqlx::Error>>()?,
    })
}
