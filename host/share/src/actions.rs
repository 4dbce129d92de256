//! Lines of an answer about a table: protocol, metadata, files, end of stream, in both formats
//! (contract-12-responses, contract-12-cdc, contract-12-ndjson). Never reads anything.

use serde_json::{Value, json};
use yearbook_domain::{Credit, Millis, StoredFile};

use super::capabilities::ResponseFormat;

/// Media type of the answers.
pub(super) const NDJSON: &str = "application/x-ndjson; charset=utf-8";

/// Metadata of a table at one version.
pub(super) struct TableMetadata<'a> {
    /// Identifier of the table.
    pub(super) id: String,
    /// Name of the table.
    pub(super) name: &'a str,
    /// Description, for people.
    pub(super) description: Option<&'a str>,
    /// Columns in Spark's JSON.
    pub(super) schema: String,
    /// Credit that must be passed on with the rows.
    pub(super) credit: &'a Credit,
    /// Version that it is told for.
    pub(super) version: u64,
    /// Time of the first version that is known.
    pub(super) created_at: Millis,
    /// Bytes of the table's only file; none where the answer is about changes.
    pub(super) bytes: Option<u64>,
}

/// Kind of a file in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Rows of a version that was asked for.
    Data,
    /// Rows that a version added, all of its rows.
    Add,
    /// Rows that a version no longer has, all of those of the version before.
    Remove,
    /// Changed rows with their kind.
    Change,
}

/// A file with its address.
pub(super) struct FileAction<'a> {
    /// Kind of the file.
    pub(super) kind: FileKind,
    /// The file.
    pub(super) file: &'a StoredFile,
    /// Address from which it can be read.
    pub(super) url: String,
    /// Version that it belongs to.
    pub(super) version: u64,
    /// Time of that version.
    pub(super) timestamp: Millis,
    /// Time until which the address works.
    pub(super) expires: Millis,
    /// Statistics as JSON text.
    pub(super) stats: Option<String>,
}

/// Lines of one answer.
pub(super) struct ActionLines {
    format: ResponseFormat,
    text: String,
}

impl ActionLines {
    /// Begins an answer with the protocol that readers need. Version 4 of writers is the first that
    /// has a change data feed; readers need nothing but Parquet.
    pub(super) fn new(format: ResponseFormat) -> Self {
        let mut lines = Self { format, text: String::new() };
        lines.push(&match format {
            ResponseFormat::Parquet => json!({"protocol": {"minReaderVersion": 1}}),
            ResponseFormat::Delta => json!({
                "protocol": {"deltaProtocol": {"minReaderVersion": 1, "minWriterVersion": 4}}
            }),
        });
        lines
    }

    /// Adds metadata.
    pub(super) fn metadata(&mut self, table: &TableMetadata<'_>) {
        let feed = match self.format {
            ResponseFormat::Parquet => "enableChangeDataFeed",
            ResponseFormat::Delta => "delta.enableChangeDataFeed",
        };
        let mut configuration = json!({
            feed: "true",
            "yearbook.source": table.credit.source,
            "yearbook.attribution": table.credit.attribution,
            "yearbook.licence": table.credit.licence,
        });
        if let Some(url) = &table.credit.source_url {
            configuration["yearbook.source_url"] = json!(url);
        }
        let mut described = json!({
            "id": table.id,
            "name": table.name,
            "format": {"provider": "parquet"},
            "schemaString": table.schema,
            "partitionColumns": [],
            "configuration": configuration,
        });
        if let Some(description) = table.description {
            described["description"] = json!(description);
        }
        let mut metadata = match self.format {
            ResponseFormat::Parquet => described,
            ResponseFormat::Delta => {
                described["format"]["options"] = json!({});
                described["createdTime"] = json!(table.created_at.0);
                json!({"deltaMetadata": described})
            }
        };
        metadata["version"] = json!(table.version);
        if let Some(bytes) = table.bytes {
            metadata["size"] = json!(bytes);
            metadata["numFiles"] = json!(1);
        }
        self.push(&json!({"metaData": metadata}));
    }

    /// Adds a file.
    pub(super) fn file(&mut self, action: &FileAction<'_>) {
        let line = match self.format {
            ResponseFormat::Parquet => parquet_file(action),
            ResponseFormat::Delta => delta_file(action),
        };
        self.push(&line);
    }

    /// Adds the end of the stream.
    pub(super) fn end(&mut self, expires: Option<Millis>, refresh_token: Option<String>) {
        let mut action = json!({});
        if let Some(expires) = expires {
            action["minUrlExpirationTimestamp"] = json!(expires.0);
        }
        if let Some(token) = refresh_token {
            action["refreshToken"] = json!(token);
        }
        self.push(&json!({"endStreamAction": action}));
    }

    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds a line. Clients split text at characters that JSON allows within strings, so these are
    /// escaped; outside of strings JSON has none of them.
    fn push(&mut self, line: &Value) {
        for character in line.to_string().chars() {
            match character {
                '\u{85}' => self.text.push_str("\\u0085"),
                '\u{2028}' => self.text.push_str("\\u2028"),
                '\u{2029}' => self.text.push_str("\\u2029"),
                other => self.text.push(other),
            }
        }
        self.text.push('\n');
    }
}

fn parquet_file(action: &FileAction<'_>) -> Value {
    let name = match action.kind {
        FileKind::Data => "file",
        FileKind::Add => "add",
        FileKind::Remove => "remove",
        FileKind::Change => "cdf",
    };
    let mut file = json!({
        "url": action.url,
        "id": action.file.sha256,
        "partitionValues": {},
        "size": action.file.bytes,
        "version": action.version,
        "timestamp": action.timestamp.0,
        "expirationTimestamp": action.expires.0,
    });
    if let Some(stats) = &action.stats {
        file["stats"] = json!(stats);
    }
    json!({name: file})
}

fn delta_file(action: &FileAction<'_>) -> Value {
    let mut inner = json!({
        "path": action.url,
        "partitionValues": {},
        "size": action.file.bytes,
        "dataChange": action.kind != FileKind::Change,
    });
    let name = match action.kind {
        FileKind::Data | FileKind::Add => {
            inner["modificationTime"] = json!(action.timestamp.0);
            if let Some(stats) = &action.stats {
                inner["stats"] = json!(stats);
            }
            "add"
        }
        FileKind::Remove => {
            inner["deletionTimestamp"] = json!(action.timestamp.0);
            inner["extendedFileMetadata"] = json!(true);
            "remove"
        }
        FileKind::Change => "cdc",
    };
    json!({"file": {
        "id": action.file.sha256,
        "size": action.file.bytes,
        "version": action.version,
        "timestamp": action.timestamp.0,
        "expirationTimestamp": action.expires.0,
        "deltaSingleAction": {name: inner},
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_lines_are_escaped_contract_12() {
        let mut lines = ActionLines::new(ResponseFormat::Parquet);
        lines.push(&json!({"a": "x\u{85}y\u{2028}z\u{2029}\n"}));
        let text = lines.into_text();
        assert_eq!(text.lines().count(), 2);
        assert!(text.ends_with("{\"a\":\"x\\u0085y\\u2028z\\u2029\\n\"}\n"), "{text}");
    }
}
