//! Looking for damage.

use sqlx::{Row, SqliteConnection};

pub(super) async fn problems(connection: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    // SQLite itself stops at a hundred sentences; "ok" alone means none.
    let mut problems: Vec<String> = sqlx::query_scalar("PRAGMA quick_check").fetch_all(&mut *connection).await?;
    problems.retain(|sentence| sentence != "ok");
    for row in sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *connection).await? {
        let (table, parent): (String, String) = (row.try_get(0)?, row.try_get(2)?);
        problems.push(format!("a row of {table} refers to a row of {parent} that does not exist"));
    }
    Ok(problems)
}
