//! Import circles: files of a crate that need each other, directly or around. Owns the limit; the
//! graph comes from `sources`, which reads what each file names.

mod sources;

use std::collections::{BTreeMap, BTreeSet};

use super::{SourceTree, product_code};
use sources::CrateSources;

/// Files that may need each other: a type, what makes it and what reads it.
const CIRCLE: usize = 3;

/// Files, each with those of the same crate that it needs.
type ImportGraph = BTreeMap<String, BTreeSet<String>>;

/// Circles of more than [`CIRCLE`] files.
pub(super) fn circles(tree: &SourceTree) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in tree.of_kind("rs") {
        let code = product_code(path, text);
        if let Some((folder, file)) = path.split_once("/src/")
            && !code.is_empty()
        {
            crates.entry(folder).or_default().push((file, code));
        }
    }
    let mut faults = Vec::new();
    for (folder, files) in crates {
        let graph = CrateSources::read(&files).imports();
        for circle in components(&graph).into_iter().filter(|files| files.len() > CIRCLE) {
            let first = circle.first().map_or("", String::as_str);
            faults.push(format!(
                "{folder}/src/{first}: {count} files import each other in a circle ({files}); a \
                 type or a function stands on the wrong side, such as in {around}",
                count = circle.len(),
                files = circle.join(", "),
                around = way_around(&graph, first).join(" -> "),
            ));
        }
    }
    faults
}

/// Sets of files each of which leads to each other one, sorted.
fn components(graph: &ImportGraph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|file| (file, reachable(graph, file))).collect();
    let mut components = BTreeSet::new();
    for (file, from_here) in &reached {
        let mutual = from_here.iter().filter(|other| reached[**other].contains(*file));
        let component: Vec<String> = mutual.map(|other| (*other).clone()).collect();
        if component.len() > 1 {
            components.insert(component);
        }
    }
    components.into_iter().collect()
}

/// Files that `file` leads to; itself only where a way leads back.
fn reachable<'a>(graph: &'a ImportGraph, file: &String) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&String> = graph.get(file).into_iter().flatten().collect();
    while let Some(next) = waiting.pop() {
        if found.insert(next) {
            waiting.extend(graph.get(next).into_iter().flatten());
        }
    }
    found
}

/// Files of the shortest way from `file` back to it.
fn way_around(graph: &ImportGraph, file: &str) -> Vec<String> {
    let mut ways = std::collections::VecDeque::from([vec![file.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in way.last().and_then(|last| graph.get(last)).into_iter().flatten() {
            let longer: Vec<String> = way.iter().chain([next]).cloned().collect();
            if next == file {
                return longer;
            }
            if seen.insert(next) {
                ways.push_back(longer);
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate whose files need each other around: `a` names b, `b` the child of c, and so on.
    fn ring(extra: &[(&str, &str)]) -> Vec<String> {
        let mut files = vec![
            ("host/x/src/lib.rs", "mod a; mod b; mod c; pub use a::A; pub struct Top;"),
            ("host/x/src/a.rs", "use crate::b::B;\npub struct A(B);"),
            ("host/x/src/b.rs", "pub struct B(super::c::d::D);"),
            ("host/x/src/c.rs", "pub(crate) mod d;\npub(crate) use d::D;"),
        ];
        files.extend(extra);
        circles(&SourceTree::from_files(&files))
    }

    #[test]
    fn a_circle_of_four_files_is_found_and_one_of_three_is_not() {
        // `crate::A` is what lib.rs passes on, so the circle goes past it: a, b, c/d.
        assert_eq!(ring(&[("host/x/src/c/d.rs", "pub struct D(Option<crate::A>);")]), [""; 0]);
        let faults = ring(&[
            ("host/x/src/c/d.rs", "use super::super::e;\npub struct D(e::E);"),
            ("host/x/src/e.rs", "use crate::{Top, a::{self as first}};\npub struct E(first::A);"),
        ]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("4 files") && faults[0].contains("a.rs, b.rs, c/d.rs, e.rs"));
        assert!(faults[0].ends_with("a.rs -> b.rs -> c/d.rs -> e.rs -> a.rs"), "{faults:?}");
    }

    #[test]
    fn tests_comments_and_other_crates_lead_nowhere() {
        let d = "// use crate::e::E;\npub struct D(&'static str);\nconst A: D = D(\"crate::e::E\");\n\
            #[cfg(test)]\nuse crate::e::E;\n#[cfg(test)]\nmod tests {\n    use crate::e::E;\n}\n";
        let e = ("host/x/src/e.rs", "use crate::a::A;\npub struct E(A);");
        assert_eq!(ring(&[("host/x/src/c/d.rs", d), e]), [""; 0]);
    }
}
