//! `yearbook log`: the key of the log of what was published, and the check of a log over HTTP
//! (contract-21-log-verify). The check believes nothing but the key.

mod remote;

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use serde_json::json;
use yearbook_catalog::LOG_SECRET;
use yearbook_domain::{DatasetName, LogEntry, SnapshotId};
use yearbook_log::{Checkpoint, InclusionProof, LogError, SigningKey, VerifierKey};

use self::remote::RemoteLog;
use crate::arguments::{LogCheck, LogCommand};
use crate::context::CommandContext;
use crate::output::pluralize;

pub(super) async fn run(context: &CommandContext, command: LogCommand) -> anyhow::Result<()> {
    match command {
        LogCommand::Key => {
            let key = own_key(context).await?.to_text();
            context.output.print_result(&json!({ "key": key }), || key.clone())
        }
        LogCommand::Verify(check) => Box::pin(verify(context, &check)).await,
    }
}

/// The key of this installation.
async fn own_key(context: &CommandContext) -> anyhow::Result<VerifierKey> {
    let values = &context.settings.values;
    let public_url = values.server.public_url.as_ref().map(|url| url.as_str());
    let origin = values.pages.log_origin(public_url);
    let secret = context.catalog().await?.secret(LOG_SECRET).await;
    let secret = secret.context("cannot read the secret of the log")?;
    Ok(SigningKey::new(&origin, secret).verifier().clone())
}

async fn verify(context: &CommandContext, check: &LogCheck) -> anyhow::Result<()> {
    let key = match &check.key {
        Some(text) => VerifierKey::parse(text)?,
        None => own_key(context).await?,
    };
    let url = check.url.clone().unwrap_or_else(|| context.settings.base_url());
    let log = RemoteLog::new(&url)?;
    let kept = check.checkpoint.as_deref().map(|file| read_kept(file, &key)).transpose()?.flatten();
    let note = log.text("/log/checkpoint").await?;
    let head = Checkpoint::open(&note, &key)
        .with_context(|| format!("the checkpoint of {url} is not to be believed"))?;
    log.check_root(&head).await?;
    if let Some(kept) = &kept {
        log.check_goes_on(kept, &head).await?;
    }
    let entry = match check.dataset.as_ref().zip(check.snapshot.as_ref()) {
        Some((name, id)) => Some(find_entry(&log, &key, &head, name, id).await?),
        None => None,
    };
    let read = if check.entries { Some(log.check_entries(&head).await?) } else { None };
    if let Some(file) = &check.checkpoint {
        replace_file(file, &note)
            .with_context(|| format!("cannot keep the checkpoint in {}", file.display()))?;
    }
    let report = json!({
        "origin": head.origin,
        "size": head.size,
        "root": head.root.to_base64(),
        "key": key.to_text(),
        "goes_on_from": kept.as_ref().map(|kept| kept.size),
        "entry": entry.as_ref().map(|(index, entry)| json!({
            "index": index,
            "dataset": entry.dataset,
            "version": entry.version,
            "snapshot_id": entry.snapshot,
            "digest": entry.digest,
            "committed": entry.committed.to_rfc3339(),
            "released": entry.released.to_rfc3339(),
        })),
        "entries_read": read,
    });
    context.output.print_result(&report, || {
        let entries = |number| match number {
            1 => "1 entry".to_owned(),
            number => format!("{number} entries"),
        };
        let mut text =
            format!("The log {} has {}, signed by the key.", head.origin, entries(head.size));
        if let Some(kept) = &kept {
            text += &format!("\nIt goes on from the {} of the checkpoint that was kept.", entries(kept.size));
        }
        if let Some((index, LogEntry { dataset, version, snapshot, digest, released, .. })) = &entry
        {
            let released = released.to_rfc3339();
            text += &format!(
                "\nEntry {index}: version {version} of {dataset}, snapshot {snapshot}, published at {released}, {digest}."
            );
        }
        if let Some(read) = read {
            text += &format!("\n{} read and found whole.", pluralize(read, "bundle"));
        }
        text
    })
}

/// The checkpoint that the last check kept; `None` before the first.
fn read_kept(file: &Path, key: &VerifierKey) -> anyhow::Result<Option<Checkpoint>> {
    let note = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        note => note.with_context(|| format!("cannot read {}", file.display()))?,
    };
    let kept = Checkpoint::open(&note, key).with_context(|| {
        format!("{} has no checkpoint of this log; move it away to begin anew", file.display())
    })?;
    Ok(Some(kept))
}

/// Writes `text` in the place of what `file` has, whole or not at all: without the last head that
/// was found good, nothing tells a log that was forked.
fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut new = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

/// The entry of a snapshot with its index, by a proof that is checked here.
async fn find_entry(
    log: &RemoteLog,
    key: &VerifierKey,
    head: &Checkpoint,
    name: &DatasetName,
    id: &str,
) -> anyhow::Result<(u64, LogEntry)> {
    let id = SnapshotId::parse(id).ok_or_else(|| {
        anyhow!("{id:?} is no snapshot id; `yearbook datasets snapshots {name}` shows them")
    })?;
    let text = log.text(&format!("/cite/{name}/{id}/proof?format=tlog-proof")).await?;
    let proof = InclusionProof::parse(&text)?;
    let proved = proof.check(key)?;
    // The proof may be of a moment before or after.
    let (older, newer) = if proved.size < head.size { (&proved, head) } else { (head, &proved) };
    log.check_goes_on(older, newer).await?;
    let leaf = String::from_utf8(proof.entry).map_err(|_| LogError::NoProof)?;
    let entry = LogEntry::from_leaf(&leaf).context("the entry is none of a publication")?;
    if entry.dataset != *name || entry.snapshot != id {
        bail!("the proof is of another snapshot: {leaf}");
    }
    Ok((proof.index, entry))
}
