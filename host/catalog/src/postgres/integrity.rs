//! Looking for damage, and for a server that does not suit.

use crate::sql::Connection;

/// Each counts what should not be, with the sentence for it. Foreign keys and checks are enforced
/// by the server itself.
const INTEGRITY_CHECKS: [(&str, &str); 4] = [
    (
        "SELECT COUNT(*) FROM pg_settings WHERE name = 'server_encoding' AND setting <> 'UTF8'",
        "the database's encoding is not UTF8",
    ),
    (
        "SELECT COUNT(*) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'",
        "synchronous_commit is off: after a crash of the server a revoked key may work again, and a quota may be exceeded",
    ),
    (
        "SELECT COUNT(*) FROM datasets d WHERE d.retired_at IS NULL AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.dataset = d.name)",
        "a dataset has no snapshot",
    ),
    (
        "SELECT COUNT(*) FROM pg_constraint WHERE NOT convalidated AND connamespace = current_schema()::regnamespace",
        "a constraint was never checked against the rows that are there",
    ),
];

pub(crate) async fn problems(connection: &mut Connection<'_>) -> Result<Vec<String>, sqlx::Error> {
    let mut problems = Vec::new();
    let (standby,): (bool,) = connection.query("SELECT pg_is_in_recovery()").fetch_one().await?;
    if standby {
        problems.push(
            "the server is a standby, which takes no writes: use the address of the primary"
                .to_owned(),
        );
    }
    for (question, sentence) in INTEGRITY_CHECKS {
        let (found,): (i64,) = connection.query(question).fetch_one().await?;
        if found > 0 {
            problems.push(sentence.to_owned());
        }
    }
    Ok(problems)
}
