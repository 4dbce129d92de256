//! Releases that a package plans (contract-21-calendar): `releases` under `"yearbook"`.

use yearbook_domain::announcement::MAX_PLANNED_RELEASES;
use yearbook_domain::{Millis, PlannedRelease, release_time};

use super::node::{DescriptorNode, DescriptorProblems};
use super::text_rules;

/// Reads `releases`.
pub(super) fn parse(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Vec<PlannedRelease> {
    let Some(list) = node.get("releases") else { return Vec::new() };
    let nodes = list.list(problems).unwrap_or_default();
    if nodes.len() > MAX_PLANNED_RELEASES {
        let found = nodes.len();
        problems
            .add(list.at, format!("has {found} releases; at most {MAX_PLANNED_RELEASES} are kept"));
        return Vec::new();
    }
    let mut releases: Vec<PlannedRelease> = Vec::new();
    for node in nodes {
        if node.object(problems).is_none() {
            continue;
        }
        node.refuse_other_members(&["at", "title"], problems);
        let at = node
            .require("at", release_time::EXPECTED, problems)
            .and_then(|at| parse_time(&at, problems));
        let title = node
            .require("title", "what is released, in a line", problems)
            .and_then(|title| text_rules::line(&title, problems));
        let (Some(at), Some(title)) = (at, title) else { continue };
        if releases.iter().any(|earlier| earlier.at == at) {
            problems.add(
                node.member_path("at"),
                "is the time of another release of this list; one dataset has one at a time",
            );
            continue;
        }
        releases.push(PlannedRelease { at, title });
    }
    releases
}

fn parse_time(node: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> Option<Millis> {
    let parsed = release_time::parse(node.text(problems)?);
    parsed.map_err(|fault| problems.add(node.at.clone(), fault)).ok()
}
