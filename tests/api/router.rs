//! Every route of the service, as the sources of the server list it, each with an address at which
//! it answers 200 once `harvest` is published. Tests about every route ask here, so that a new
//! route is part of them without being named.

use std::path::{Path, PathBuf};

use yearbook_tests::components::root;

/// Start of a route in the sources.
const ROUTE: &str = ".route(\"";

/// One route.
pub(super) struct RouterRoute {
    /// As the router has it: `/v1/datasets/{name}`.
    pub(super) template: String,
    /// An address of it, ready for another parameter at its end.
    pub(super) address: String,
    /// True if it needs a key.
    pub(super) keyed: bool,
    /// True if all methods but GET, HEAD and OPTIONS are 405.
    pub(super) read_only: bool,
}

/// Routes whose address names what only a running service knows; they have tests of their own.
const OTHERS: [&str; 3] = ["/cite/{name}/{snapshot}", "/cite/{name}/{snapshot}/proof", "/l/{file}"];

/// Every route but those of the admin listener, those of the share, whose keys travel otherwise,
/// and [`OTHERS`].
pub(super) fn routes() -> Vec<RouterRoute> {
    let mut found = Vec::new();
    let rooms = ["host/api/src", "host/pages/src"].map(|folder| root().join(folder));
    for file in rooms.iter().flat_map(|room| sources(room)) {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| line.starts_with(".route(")).collect();
        for line in lines {
            let template = line.strip_prefix(ROUTE).and_then(|rest| rest.split('"').next());
            let template = template.unwrap_or_else(|| {
                panic!("{}: a route stands on one line with its path: {line}", file.display())
            });
            if OTHERS.contains(&template) {
                continue;
            }
            found.push(RouterRoute {
                template: template.to_owned(),
                address: address(template),
                keyed: line.contains("keyed("),
                read_only: !line.contains("post("),
            });
        }
    }
    assert!(
        found.iter().any(|route| route.template == "/health")
            && found.iter().any(|route| route.keyed),
        "no route was found"
    );
    found
}

/// The addresses that want a key.
pub(super) fn keyed() -> Vec<String> {
    routes().into_iter().filter(|route| route.keyed).map(|route| route.address).collect()
}

/// The addresses that want none.
pub(super) fn open() -> Vec<String> {
    routes().into_iter().filter(|route| !route.keyed).map(|route| route.address).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// `template` with a value for each of its parts, and what its query needs.
fn address(template: &str) -> String {
    let filled = [
        ("{name}", "harvest"),
        ("{namespace}", "farms"),
        ("{tool}", "meltano"),
        ("{asset}", "docs.js"),
        ("{*tile}", "0/000.p/1"),
    ]
    .into_iter()
    .fold(template.to_owned(), |path, (part, value)| path.replace(part, value));
    assert!(!filled.contains('{'), "{template} has a part without a value; give it one here");
    let query = if template.ends_with("/{tool}") { "datasets=harvest&" } else { "" };
    format!("{filled}?{query}")
}
