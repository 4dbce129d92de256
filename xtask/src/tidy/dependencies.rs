//! Checks which crates depend on which: the map of ARCHITECTURE.md, and the owners of libraries.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::command;
use crate::repository::Repository;

/// Crates of the host, each with the crates of ours that it may use.
const MAP: [(&str, &[&str]); 17] = [
    ("domain", &[]),
    ("counters", &[]),
    ("shares", &[]),
    ("workers", &["shares"]),
    ("catalog", &["counters", "domain"]),
    ("storage", &["counters", "domain"]),
    ("scan", &["counters", "domain", "storage", "workers"]),
    ("outbound", &[]),
    ("registry", &["domain", "outbound"]),
    ("search", &["domain"]),
    ("publish", &["catalog", "domain", "scan", "storage", "wkt", "workers"]),
    ("refresh", &["catalog", "domain", "outbound", "publish"]),
    ("sandbox", &["counters", "domain", "shares", "workers"]),
    ("releases", &["catalog", "domain", "sandbox", "sdk", "storage", "workers"]),
    ("signup", &["catalog", "counters", "domain"]),
    (
        "server",
        &[
            "catalog", "counters", "domain", "sandbox", "scan", "search", "shares", "signup",
            "storage", "workers",
        ],
    ),
    (
        "cli",
        &[
            "catalog",
            "domain",
            "exposition",
            "publish",
            "refresh",
            "outbound",
            "registry",
            "releases",
            "sandbox",
            "scan",
            "sdk",
            "server",
            "signup",
            "storage",
            "workers",
        ],
    ),
];

/// Libraries, each with the crates of the host that may use it.
const OWNERS: [(&str, &[&str]); 11] = [
    ("sqlx", &["catalog"]),
    ("object_store", &["storage"]),
    ("wasmtime", &["sandbox"]),
    ("axum", &["server"]),
    ("hyper", &["server"]),
    ("hyper-util", &["server"]),
    ("parquet", &["scan", "publish"]),
    ("clap", &["cli"]),
    ("lettre", &["signup"]),
    ("reqwest", &["outbound", "storage"]),
    ("tantivy", &["search"]),
];

/// As `cargo metadata` prints it.
#[derive(Debug, Deserialize)]
struct Workspace {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// None for what is linked; `dev` and `build` else.
    kind: Option<String>,
}

/// Faults of the workspace's manifests.
pub(super) fn check(repository: &Repository) -> Result<Vec<String>> {
    let mut cargo = repository.cargo();
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let text = command::output(&mut cargo)?;
    let workspace: Workspace =
        serde_json::from_str(&text).context("cargo metadata prints no JSON that is known")?;
    Ok(faults(&workspace))
}

fn faults(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for package in &workspace.packages {
        let name = package.name.trim_start_matches("yearbook-");
        let folders: Vec<&str> = package.manifest_path.rsplit('/').skip(1).take(2).collect();
        let [folder, above] = folders[..] else { continue };
        if above == "host" && folder != name {
            faults.push(format!("host/{folder}: the crate is called {name}, unlike its folder"));
        }
        let linked = package.dependencies.iter().filter(|dependency| dependency.kind.is_none());
        let linked: Vec<&str> = linked.map(|dependency| dependency.name.as_str()).collect();
        if above != "host" {
            continue;
        }
        let allowed = MAP.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, uses)| *uses);
        for ours in linked.iter().filter_map(|linked| linked.strip_prefix("yearbook-")) {
            if allowed.is_some_and(|allowed| !allowed.contains(&ours)) {
                faults.push(format!("host/{folder}/Cargo.toml: {name} may not use {ours}"));
            }
        }
        for (library, owners) in OWNERS {
            if linked.contains(&library) && !owners.contains(&name) {
                let owners = owners.join(" and ");
                faults.push(format!("host/{folder}/Cargo.toml: {library} belongs to {owners}"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_use_what_the_map_allows_and_libraries_stay_with_their_owners() {
        let dependency = |name: &str, kind: Option<&str>| Dependency {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
        };
        let package = |name: &str, folder: &str, dependencies| Package {
            name: format!("yearbook-{name}"),
            manifest_path: format!("/a/host/{folder}/Cargo.toml"),
            dependencies,
        };
        let workspace = Workspace {
            packages: vec![
                package(
                    "server",
                    "server",
                    vec![
                        dependency("yearbook-publish", None),
                        dependency("yearbook-publish", Some("dev")),
                        dependency("sqlx", None),
                        dependency("axum", None),
                    ],
                ),
                package("scan", "reader", Vec::new()),
            ],
        };
        assert_eq!(
            faults(&workspace),
            [
                "host/server/Cargo.toml: server may not use publish",
                "host/server/Cargo.toml: sqlx belongs to catalog",
                "host/reader: the crate is called scan, unlike its folder",
            ]
        );
    }
}
