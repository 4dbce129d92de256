//! Looking for damage.

use crate::sql::Connection;

pub(crate) async fn problems(connection: &mut Connection<'_>) -> Result<Vec<String>, sqlx::Error> {
    // SQLite itself stops at a hundred sentences; "ok" alone means none.
    let sentences: Vec<(String,)> = connection.query("PRAGMA quick_check").all().await?;
    let mut problems: Vec<String> = sentences
        .into_iter()
        .map(|(sentence,)| sentence)
        .filter(|sentence| sentence != "ok")
        .collect();
    let strays: Vec<(String, Option<i64>, String)> =
        connection.query("PRAGMA foreign_key_check").all().await?;
    problems.extend(strays.iter().map(|(table, _, parent)| {
        format!("a row of {table} refers to a row of {parent} that does not exist")
    }));
    Ok(problems)
}
