//! Users of crates and libraries: `deny.toml` lists them, `cargo deny` compares them with the
//! dependencies that are linked, and ARCHITECTURE.md says them. Checks that no crate of the host is
//! missing there, and that rooms of the server are apart.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::SourceTree;
use super::files::MARKDOWN_COLUMNS;

/// Page with the lists.
const DENY: &str = "deny.toml";

/// Beginning of our crates' names.
const OURS: &str = "yearbook-";

/// Crates of the host without a list: every other one uses `domain`, and none uses `cli`.
const UNLISTED: [&str; 2] = ["cli", "domain"];

/// Rooms of the server, which only `server` puts together: `http` and other rooms use none.
const ROOMS: [&str; 4] = ["adapters", "api", "pages", "share"];

/// The room that sends rows through another one, and that one.
const ADAPTERS_USE: (&str, &str) = ("adapters", "yearbook-api");

#[derive(Debug, Default, Deserialize)]
struct DenyConfig {
    bans: Bans,
}

#[derive(Debug, Default, Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

/// A crate that only some may use.
#[derive(Debug, Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    wrappers: Vec<String>,
}

impl Ban {
    /// Crates of the host that may use it.
    fn users<'a>(&'a self, hosts: &[&str]) -> Vec<&'a str> {
        let ours = self.wrappers.iter().filter_map(|wrapper| wrapper.strip_prefix(OURS));
        let mut users: Vec<&str> = ours.filter(|user| hosts.contains(user)).collect();
        users.sort_unstable();
        users
    }
}

/// Crates of the host without a list of users, or under another name than their folder's, and rooms
/// that something else than `server` uses.
pub(super) fn lists(tree: &SourceTree) -> Vec<String> {
    let hosts = hosts(tree);
    let bans = match read(tree) {
        Ok(bans) => bans,
        Err(fault) => return vec![fault],
    };
    let mut faults = Vec::new();
    for host in hosts.iter().filter(|host| !UNLISTED.contains(host)) {
        let manifest = format!("host/{host}/Cargo.toml");
        let name = format!("{OURS}{host}");
        if !tree.texts[&manifest].contains(&format!("\nname = \"{name}\"\n")) {
            faults.push(format!("{manifest}: the crate is not called {name}"));
        }
        if !bans.iter().any(|ban| ban.name == name) {
            faults.push(format!("{DENY}: list under `bans.deny` who may use {name}"));
        }
    }
    for room in &bans {
        let is_room = room.name.strip_prefix(OURS).is_some_and(|name| ROOMS.contains(&name));
        let may = |user: &str| user == "server" || (user, room.name.as_str()) == ADAPTERS_USE;
        for user in room.users(&hosts).into_iter().filter(|user| is_room && !may(user)) {
            faults.push(format!("{DENY}: {user} may not use {}, a room of the server", room.name));
        }
    }
    faults
}

/// Sentences of ARCHITECTURE.md, a line each: first libraries, then crates of ours.
pub(super) fn sentences(tree: &SourceTree) -> String {
    let hosts = hosts(tree);
    let mut used: BTreeMap<(bool, Vec<String>), Vec<String>> = BTreeMap::new();
    for ban in read(tree).unwrap_or_default() {
        let users: Vec<String> = ban.users(&hosts).iter().map(|user| format!("`{user}`")).collect();
        let ours = ban.name.strip_prefix(OURS);
        let name = ours.map_or_else(|| ban.name.clone(), |ours| format!("`{ours}`"));
        if !users.is_empty() {
            used.entry((ours.is_some(), users)).or_default().push(name);
        }
    }
    let lines = used.into_iter().map(|((_, users), mut names)| {
        names.sort();
        let verb = if users.len() == 1 { "uses" } else { "use" };
        broken(&format!("- Only {} {verb} {}. (cargo-deny)", listed(&users), listed(&names)))
    });
    lines.collect()
}

/// An item of a list, its lines no wider than a page.
fn broken(item: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in item.split(' ') {
        if line.len() + word.len() >= MARKDOWN_COLUMNS {
            lines += &line;
            lines.push('\n');
            line = " ".to_owned();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line + "\n"
}

/// Joins words by commas and "and".
fn listed(words: &[String]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        words => words.concat(),
    }
}

/// Folders of the host's crates.
fn hosts(tree: &SourceTree) -> Vec<&str> {
    let manifests = tree.texts.keys().filter_map(|path| {
        path.strip_prefix("host/")?.strip_suffix("/Cargo.toml").filter(|name| !name.contains('/'))
    });
    manifests.collect()
}

fn read(tree: &SourceTree) -> Result<Vec<Ban>, String> {
    let text = tree.texts.get(DENY).map_or("", String::as_str);
    let config = toml::from_str::<DenyConfig>(text);
    config.map(|config| config.bans.deny).map_err(|error| format!("{DENY}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(bans: &str) -> SourceTree {
        let manifest = |name: &str| format!("[package]\nname = \"yearbook-{name}\"\n");
        SourceTree::from_files(&[
            ("deny.toml", &format!("[bans]\ndeny = [{bans}]\n")),
            ("host/domain/Cargo.toml", &manifest("domain")),
            ("host/api/Cargo.toml", &manifest("api")),
            ("host/http/Cargo.toml", &manifest("http")),
            ("host/server/Cargo.toml", &manifest("serve")),
        ])
    }

    #[test]
    fn crates_have_their_folders_name_and_a_list_of_users() {
        let bans = r#"{ crate = "yearbook-api", wrappers = ["yearbook-server"] },
            { crate = "yearbook-http", wrappers = ["yearbook-api", "yearbook-server"] }"#;
        assert_eq!(
            lists(&tree(bans)),
            [
                "host/server/Cargo.toml: the crate is not called yearbook-server",
                "deny.toml: list under `bans.deny` who may use yearbook-server",
            ]
        );
    }

    #[test]
    fn only_the_server_uses_a_room() {
        let bans = r#"{ crate = "yearbook-api", wrappers = ["yearbook-server", "yearbook-http"] }"#;
        let faults = lists(&tree(bans));
        let room = "deny.toml: http may not use yearbook-api, a room of the server";
        assert!(faults.iter().any(|fault| fault == room), "{faults:?}");
    }

    #[test]
    fn a_long_item_is_broken_and_indented() {
        let item = broken(&format!("- Only {}", "`server` ".repeat(20).trim_end()));
        let widths: Vec<usize> = item.lines().map(str::len).collect();
        assert_eq!(item.lines().nth(1).map(|line| &line[..5]), Some("  `se"));
        assert!(widths.len() == 2 && widths[0] <= MARKDOWN_COLUMNS, "{widths:?}");
    }

    #[test]
    fn sentences_name_users_of_the_host_alone() {
        let bans = r#"{ crate = "hyper", wrappers = ["yearbook-server", "yearbook-http", "axum"] },
            { crate = "yearbook-http", wrappers = ["yearbook-api", "yearbook-tests"] },
            { crate = "axum", wrappers = ["yearbook-http", "yearbook-server"] }"#;
        assert_eq!(
            sentences(&tree(bans)),
            "- Only `http` and `server` use axum and hyper. (cargo-deny)\n\
             - Only `api` uses `http`. (cargo-deny)\n"
        );
    }
}
