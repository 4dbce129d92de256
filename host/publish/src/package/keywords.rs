//! The topics of a dataset: `keywords` of the data package (contract-7-descriptor).

use super::node::{DescriptorNode, DescriptorProblems};
use super::text_rules;

/// Keywords at most: each is a topic to browse by.
const MAX_KEYWORDS: usize = 100;

/// Longest keyword, bytes: a few words.
const MAX_KEYWORD_BYTES: usize = 200;

/// Reads the keywords in their order, each once.
pub(super) fn parse(root: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> Vec<String> {
    let Some(node) = root.get("keywords") else { return Vec::new() };
    let entries = node.list(problems).unwrap_or_default();
    if entries.len() > MAX_KEYWORDS {
        let message = format!("has {} entries; at most {MAX_KEYWORDS} are kept", entries.len());
        problems.add(node.at, message);
        return Vec::new();
    }
    let mut keywords: Vec<String> = Vec::with_capacity(entries.len());
    for entry in &entries {
        let Some(keyword) = text_rules::line(entry, problems) else { continue };
        if keyword.len() > MAX_KEYWORD_BYTES {
            let message =
                format!("has {} bytes; a keyword has at most {MAX_KEYWORD_BYTES}", keyword.len());
            problems.add(entry.at.clone(), message);
        } else if !keywords.contains(&keyword) {
            keywords.push(keyword);
        }
    }
    keywords
}
