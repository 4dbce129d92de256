//! Place and format of the table: `resources[0]`. Anything that would make the file read
//! differently from how this crate reads it is refused, never ignored.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::node::{DescriptorNode, DescriptorProblems};

/// Longest name of a reader's format, bytes.
const READER_BYTES: usize = 32;

/// Formats of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// RFC 4180, UTF-8.
    Csv,
    /// The same in gzip.
    CsvGzip,
    /// Parquet.
    Parquet,
    /// An Arrow IPC file or stream; its first bytes tell which.
    Arrow,
    /// A format that a reader has to be brought for.
    Other {
        /// In gzip.
        gzip: bool,
    },
}

/// The table to read.
pub(super) struct PackageResource {
    pub(super) place: ResourcePlace,
    pub(super) format: InputFormat,
    /// The format that a reader has to be brought for.
    pub(super) reader: Option<String>,
}

/// Place of a table.
pub(super) enum ResourcePlace {
    /// A file in the package's folder.
    File(PathBuf),
    /// An `http` or `https` address.
    Address(String),
}

/// Treatment of a `path` that is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressHandling {
    /// It is a fault.
    Refused,
    /// It is the place of the table.
    Taken,
}

/// Reads `resources[0]` of the package in `folder`.
pub(super) fn parse(
    resource: &DescriptorNode<'_>,
    folder: &Path,
    addresses: AddressHandling,
    problems: &mut DescriptorProblems,
) -> Option<PackageResource> {
    resource.object(problems)?;
    if resource.get("data").is_some() {
        problems.add(
            resource.member_path("data"),
            "inline data cannot be published; put the rows into a file and name it in `path`",
        );
    }
    check_encoding(resource, problems);
    check_dialect(resource, problems);
    let path = file_name(resource, problems)?;
    let (place, name) = if addresses == AddressHandling::Taken && path.contains("://") {
        let address = check_address(resource, path, problems)?;
        // The last segment is the file's name; what follows it is not.
        let name = path.split(['?', '#']).next().unwrap_or_default();
        (ResourcePlace::Address(address), name)
    } else {
        (ResourcePlace::File(locate_file(resource, folder, path, problems)?), path)
    };
    if let Some(reader) = named_reader(resource, problems) {
        let gzip = name.to_ascii_lowercase().ends_with(".gz");
        let format = InputFormat::Other { gzip };
        return Some(PackageResource { place, format, reader: Some(reader) });
    }
    let format = detect_format(resource, name, problems)?;
    Some(PackageResource { place, format, reader: None })
}

/// Longest address, bytes: servers refuse longer ones.
const MAX_ADDRESS_BYTES: usize = 8 << 10;

/// An address that can be asked. The parser of addresses belongs to the crate that asks.
fn check_address(
    resource: &DescriptorNode<'_>,
    address: &str,
    problems: &mut DescriptorProblems,
) -> Option<String> {
    let rest = ["http://", "https://"].iter().find_map(|scheme| address.strip_prefix(scheme));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let fault = if rest.is_none() {
        "is no address that can be asked; write http://… or https://…"
    } else if authority.is_empty() {
        "names no host"
    } else if authority.contains('@') {
        "holds a user or a password, which would be shown in reports; use an address without"
    } else if address.len() > MAX_ADDRESS_BYTES {
        "is longer than 8,192 bytes"
    } else if address.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        "holds white space; write %20"
    } else {
        return Some(address.to_owned());
    };
    // A password must not be repeated.
    problems.add(resource.member_path("path"), fault);
    None
}

fn file_name<'a>(
    resource: &DescriptorNode<'a>,
    problems: &mut DescriptorProblems,
) -> Option<&'a str> {
    let node =
        resource.require("path", "the data file's path relative to the descriptor", problems)?;
    if let Some(parts) = node.value.as_array() {
        if parts.len() == 1 {
            return node.first(problems)?.text(problems);
        }
        problems.add(
            node.at,
            format!("names {} files; a dataset is published from one file", parts.len()),
        );
        return None;
    }
    node.text(problems)
}

/// The file itself, which must lie in the package's folder: a package may come from someone else,
/// and what it names is served to everybody.
fn locate_file(
    resource: &DescriptorNode<'_>,
    folder: &Path,
    name: &str,
    problems: &mut DescriptorProblems,
) -> Option<PathBuf> {
    let at = resource.member_path("path");
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.contains("://") {
        problems.add(at, format!("{name:?} is an address; download the file beside the descriptor and give its relative path, or let `yearbook refresh` ask it"));
        return None;
    }
    if name.is_empty() || name.contains('\\') || !inside {
        problems.add(at, format!("{name:?} must be a relative path with `/` that stays in the package's folder: not absolute, no `..`"));
        return None;
    }
    let path = folder.join(name);
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(real), Ok(home)) if !real.starts_with(&home) => {
            problems.add(
                at,
                format!("{name:?} is a link out of the package's folder; copy the file into it"),
            );
            None
        }
        // No device and no pipe either, which could be endless or never begin.
        (Ok(real), _) if real.is_file() => Some(path),
        (Ok(_), _) => {
            problems.add(at, format!("{name:?} is not a regular file"));
            None
        }
        (Err(why), _) => {
            problems.add(at, format!("cannot open {}: {why}", path.display()));
            None
        }
    }
}

/// Formats by the words that a file's ending and `format` use for them.
fn known_format(word: &str) -> Option<InputFormat> {
    match word {
        "csv" => Some(InputFormat::Csv),
        "parquet" | "parq" => Some(InputFormat::Parquet),
        "arrow" | "arrows" | "ipc" | "feather" => Some(InputFormat::Arrow),
        _ => None,
    }
}

/// The name of a reader's format, where `format` is one: the file's ending says nothing then, since
/// many formats are some JSON or CSV.
fn named_reader(
    resource: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<String> {
    let node = resource.get("format")?;
    let word = node.value.as_str()?;
    if known_format(&word.to_ascii_lowercase()).is_some() {
        return None;
    }
    let good = word.len() <= READER_BYTES
        && word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b));
    if !good {
        problems.add(node.at, format!("{word:?} is no format; write csv, parquet, arrow, or the name of a reader such as sdmx-csv"));
    }
    Some(word.to_owned())
}

fn detect_format(
    resource: &DescriptorNode<'_>,
    path: &str,
    problems: &mut DescriptorProblems,
) -> Option<InputFormat> {
    let lower = path.to_ascii_lowercase();
    let gzip = lower.ends_with(".gz");
    let stem = lower.strip_suffix(".gz").unwrap_or(&lower);
    let named =
        resource.get("format").and_then(|node| node.text(problems)).map(str::to_ascii_lowercase);
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    let found = match (
        known_format(ending),
        named.as_deref().map(|word| (word, known_format(word))),
    ) {
        (Some(a), Some((word, b))) if b.is_none_or(|b| b != a) => {
            problems.add(
                resource.member_path("format"),
                format!("{word:?} contradicts the file's ending .{ending}; make them agree"),
            );
            return None;
        }
        (Some(format), _) | (None, Some((_, Some(format)))) => format,
        (None, _) => {
            let message = format!(
                "cannot tell the format of {path:?}; name it .csv, .csv.gz, .parquet or .arrow, or give `format`: one of these, or that of a reader such as sdmx-csv, json-stat or geojson"
            );
            problems.add(resource.member_path("path"), message);
            return None;
        }
    };
    match (found, gzip) {
        (InputFormat::Csv, true) => Some(InputFormat::CsvGzip),
        (_, true) => {
            problems.add(
                resource.member_path("path"),
                "only CSV may be gzipped; Parquet and Arrow files compress inside",
            );
            None
        }
        _ => Some(found),
    }
}

fn check_encoding(resource: &DescriptorNode<'_>, problems: &mut DescriptorProblems) {
    if let Some(node) = resource.get("encoding")
        && let Some(word) = node.text(problems)
        && !matches!(
            word.to_ascii_lowercase().as_str(),
            "utf-8" | "utf8" | "utf-8-sig" | "ascii" | "us-ascii"
        )
    {
        problems.add(node.at, format!("{word:?} cannot be read; convert the file to UTF-8"));
    }
}

/// The only dialect read is the default one of Table Dialect, which is RFC 4180.
fn check_dialect(resource: &DescriptorNode<'_>, problems: &mut DescriptorProblems) {
    let Some(dialect) = resource.get("dialect") else { return };
    let Some(members) = dialect.object(problems) else { return };
    for (key, value) in members {
        let default = match key.as_str() {
            "delimiter" => value == ",",
            "quoteChar" => value == "\"",
            "doubleQuote" | "header" => *value == Value::Bool(true),
            "skipInitialSpace" => *value == Value::Bool(false),
            "lineTerminator" => value == "\n" || value == "\r\n",
            "headerRows" => *value == serde_json::json!([1]),
            "$schema" | "caseSensitiveHeader" | "csvddfVersion" | "headerJoin" => true,
            _ => value.is_null(),
        };
        if !default {
            let message = "only the default dialect is read (comma, double quotes doubled inside, one header row); rewrite the file so";
            problems.add(dialect.member_path(key), message);
        }
    }
}
