//! Plugin releases, within a transaction.

use sqlx::SqliteConnection;

use crate::rows::ReleaseRow;
use crate::words::whole;
use crate::{PluginRelease, statements};

pub(super) async fn register(connection: &mut SqliteConnection, release: &PluginRelease) -> Result<(), sqlx::Error> {
    let done = sqlx::query(statements::REGISTER_RELEASE)
        .bind(&release.kind)
        .bind(&release.name)
        .bind(&release.digest)
        .bind(&release.version)
        .bind(whole(release.bytes)?)
        .bind(&release.by)
        .bind(release.installed_at.0)
        .bind(&release.state)
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() > 0 {
        sqlx::query(statements::MOVE_REVISION).execute(&mut *connection).await?;
    }
    Ok(())
}

pub(super) async fn all(connection: &mut SqliteConnection) -> Result<Vec<PluginRelease>, sqlx::Error> {
    let rows: Vec<ReleaseRow> = sqlx::query_as(statements::RELEASES).fetch_all(connection).await?;
    rows.into_iter().map(ReleaseRow::read).collect()
}
