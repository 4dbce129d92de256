//! Checks of words in sources: what only some files may name, and how documentation begins.

use std::collections::BTreeMap;

use super::{SourceTree, code, numbered, product_code};

/// Files that may name statuses: the one that chooses them, and those that read one.
const STATUSES: [&str; 7] = [
    "host/http/src/status.rs",
    "host/http/src/middleware/error_bodies.rs",
    "host/http/src/middleware/traces.rs",
    "host/http/src/metrics/http.rs",
    "host/api/src/openapi/refusals.rs",
    "host/registry/src/status.rs",
    "host/storage/src/object_storage/s3/connector.rs",
];

/// Formats, transforms and adapters that ship; the host has no line for any of them but where it
/// embeds them.
const PLUGINS: [&str; 22] = [
    "json",
    "csv",
    "arrow",
    "parquet",
    "svg",
    "ndjson",
    "geojson",
    "geoparquet",
    "xlsx",
    "sdmx-csv",
    "sdmx-ml",
    "json-stat",
    "mvt",
    "growth",
    "resample",
    "aggregate",
    "pivot",
    "rolling",
    "simplify",
    "ogc",
    "mcp",
    "sdmx",
];

/// APIs and standards that adapters speak, in lower case. Where the host serves adapters it has no
/// such word.
const APIS: [&str; 10] =
    ["ogc", "oapif", "geojson", "wfs", "sdmx", "mcp", "jsonrpc", "fred", "odata", "openapi"];

/// Folders that serve adapters, of whatever API.
const ADAPTER_ROOMS: [&str; 3] =
    ["host/adapters/src/", "host/api/src/adapted/", "host/sandbox/src/adapt"];

/// Files that may name plugins, with the reason.
const PLUGIN_NAMES: [(&str, &str); 10] = [
    ("host/cli/src/builtin.rs", "it says which formats every installation has"),
    ("host/cli/src/builtin/names.rs", "it lists the components to embed"),
    ("host/domain/src/bulk.rs", "stored files are Parquet"),
    ("host/storage/src/object_storage/listing.rs", "stored files are Parquet"),
    ("host/sandbox/src/sandbox/registry.rs", "contract-2-formats orders the list of formats"),
    ("host/share/src/actions.rs", "a word of the sharing protocol"),
    ("host/share/src/capabilities.rs", "a word of the sharing protocol"),
    ("host/releases/src/readback.rs", "canaries are compared by what their outputs hold"),
    ("host/publish/src/package/resource.rs", "formats of published tables"),
    ("host/publish/src/package/table_schema.rs", "a type of Table Schema has the name of a format"),
];

/// Files that may hold `unsafe`, each for one reason that stands there.
const UNSAFE: [&str; 5] = [
    "host/cli/src/main.rs",
    "plugins/sdk/src/raw.rs",
    "plugins/sdk/src/raw/allocator.rs",
    "plugins/sdk/src/raw/allocator/linear_memory.rs",
    "host/engine/src/component_cache.rs",
];

/// Words that a documentation comment does not begin with: it names a thing, or says what is done.
const QUESTIONS: [&str; 8] = ["What", "Whether", "How", "Where", "Which", "Who", "When", "Why"];

/// Pairs of files of which a build sees one, by a feature or a platform.
const TWINS: [&str; 2] = ["postgres_absent.rs", "absent.rs"];

/// Status codes that are chosen outside the one file that may.
pub(super) fn statuses(tree: &SourceTree) -> Vec<String> {
    product(tree, "host/")
        .filter(|(path, _)| !STATUSES.contains(path))
        .flat_map(|(path, text)| {
            code(text)
                .filter(|(_, line)| line.contains("StatusCode::"))
                .map(move |(n, _)| format!("{path}:{n}: statuses are named in {}", STATUSES[0]))
        })
        .collect()
}

/// Names of plugins and of APIs in the host.
pub(super) fn plugin_names(tree: &SourceTree) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in product(tree, "host/") {
        if PLUGIN_NAMES.iter().any(|(allowed, _)| path == *allowed) {
            continue;
        }
        for (n, line) in code(text) {
            for plugin in PLUGINS.iter().filter(|plugin| line.contains(&format!("\"{plugin}\""))) {
                faults.push(format!("{path}:{n}: the host has no line for a plugin ({plugin})"));
            }
            if !ADAPTER_ROOMS.iter().any(|room| path.starts_with(room)) {
                continue;
            }
            let line = line.to_lowercase();
            let words = line.split(|letter: char| !letter.is_alphanumeric());
            for api in words.filter(|word| APIS.contains(word)) {
                faults.push(format!("{path}:{n}: the host knows no API by name ({api})"));
            }
        }
    }
    faults
}

/// `unsafe` outside the files that have a reason for it.
pub(super) fn unsafe_code(tree: &SourceTree) -> Vec<String> {
    tree.of_kind("rs")
        .filter(|(path, _)| !UNSAFE.contains(path) && !path.starts_with("xtask/src/tidy"))
        .flat_map(|(path, text)| {
            code(product_code(path, text))
                .filter(|(_, line)| {
                    line.contains("unsafe {")
                        || line.contains("unsafe impl")
                        || line.contains("unsafe fn")
                })
                .map(move |(n, _)| {
                    format!("{path}:{n}: `unsafe` stands in {} alone", UNSAFE.join(", "))
                })
        })
        .collect()
}

/// Documentation comments that begin with a question word.
pub(super) fn documentation(tree: &SourceTree) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in tree.of_kind("rs") {
        let mut inside = false;
        for (n, line) in numbered(text) {
            let line = line.trim_start();
            let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            if let Some(first) =
                text.filter(|_| !inside).and_then(|text| text.split_whitespace().next())
                && QUESTIONS.contains(&first.trim_end_matches(|c: char| !c.is_alphabetic()))
            {
                faults.push(format!("{path}:{n}: documentation begins with a noun or a verb"));
            }
            inside = text.is_some();
        }
    }
    faults
}

/// Public types that share a name: one word has one meaning.
pub(super) fn type_names(tree: &SourceTree) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    // The SDK's names are those that plugin authors write, a language of its own.
    let sources = ["host/", "xtask/", "tests/"];
    for (path, text) in sources.iter().flat_map(|top| product(tree, top)) {
        if TWINS.iter().any(|twin| path.ends_with(twin)) {
            continue;
        }
        for (n, line) in code(text) {
            if let Some(name) = public_type(line) {
                let twin = places.entry(name).or_default();
                if !twin.iter().any(|place: &String| place.starts_with(&format!("{path}:"))) {
                    twin.push(format!("{path}:{n}"));
                }
            }
        }
    }
    places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| {
            format!("{}: {name} is also in {}", places[0], places[1..].join(", "))
        })
        .collect()
}

/// The name that a line declares for a public struct, enum, trait or alias.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')')?.1,
        None => rest,
    };
    let rest = rest.trim_start();
    let rest = ["struct ", "enum ", "trait ", "type ", "union "]
        .iter()
        .find_map(|keyword| rest.strip_prefix(keyword))?;
    rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}

/// Path and product code of the Rust files below `top`.
fn product<'a>(tree: &'a SourceTree, top: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    tree.of_kind("rs")
        .filter(move |(path, _)| path.starts_with(top))
        .map(|(path, text)| (path, product_code(path, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(path: &str, text: &str) -> SourceTree {
        SourceTree::from_files(&[(path, text)])
    }

    #[test]
    fn statuses_and_names_of_plugins_stand_where_they_may() {
        let text = "fn a() { StatusCode::OK; \"csv\"; }\n// StatusCode::OK \"csv\"\n";
        let bad = tree("host/api/src/a.rs", text);
        assert_eq!(statuses(&bad).len() + plugin_names(&bad).len(), 2);
        let tested =
            tree("host/api/src/a.rs", "#[cfg(test)]\nmod tests { const A: &str = \"csv\"; }\n");
        assert!(plugin_names(&tested).is_empty());
        let api = "fn of_mcp() { \"OGC API\"; }\n";
        assert!(plugin_names(&tree("host/http/src/a.rs", api)).is_empty());
        let found = plugin_names(&tree("host/adapters/src/a.rs", api));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn documentation_begins_with_a_noun_or_a_verb() {
        let text =
            "/// What it is.\nstruct A;\n/// Rows.\n/// What follows may begin so.\nstruct B;\n";
        assert_eq!(documentation(&tree("host/a.rs", text)).len(), 1);
    }

    #[test]
    fn a_public_type_has_a_name_of_its_own() {
        let one = "pub struct Part;\nstruct Private;\n";
        let two = "pub(crate) enum Part {}\npub fn part() {}\nstruct Private;\n";
        let tree = SourceTree::from_files(&[("host/a/src/a.rs", one), ("host/b/src/b.rs", two)]);
        assert_eq!(type_names(&tree), ["host/a/src/a.rs:1: Part is also in host/b/src/b.rs:1"]);
    }

    #[test]
    fn unsafe_code_is_found() {
        let text = "fn a() { unsafe { b() } }\n";
        assert_eq!(unsafe_code(&tree("host/domain/src/a.rs", text)).len(), 1);
    }
}
