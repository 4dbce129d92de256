//! `apply`, validated by itself against the transforms that are loaded (contract-16-apply), or as
//! part of a citation, which names releases that may be gone (contract-16-citations).

use std::collections::HashSet;

use super::conditions::nearest_name;
use super::selection::Sent;
use crate::ValidationError;

/// Transforms in `apply` at most.
const MAX_TRANSFORMS: usize = 4;

/// Names of transforms, each behind which `@VERSION` may stand; blanks around one are dropped.
/// `loaded` are names with the version that is loaded; an empty one is that of a transform of which
/// no release may serve.
pub(super) fn parse_apply(
    raw: &str,
    loaded: &[(&str, &str)],
) -> Result<Sent<Vec<String>>, ValidationError> {
    let parts = split_names(raw)?;
    for &(name, version) in &parts {
        match (loaded.iter().find(|(known, _)| *known == name), version) {
            (None, _) => return Err(unknown(raw, name, loaded)),
            (Some((_, known)), Some(version)) if *known != version && !known.is_empty() => {
                let sentence = format!(
                    "transform '{name}' is loaded in version {known}, not {version}; \
                     leave @{version} out for that one"
                );
                return Err(ValidationError::value_error("apply", &sentence, raw));
            }
            _ => {}
        }
    }
    Ok(Sent::new(raw, parts.into_iter().map(|(name, _)| name.to_owned()).collect()))
}

/// A transform that a citation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitedTransform {
    /// Its name.
    pub name: String,
    /// The release: the one that is named, else the one that is loaded.
    pub version: String,
    /// Set where this release is loaded.
    pub is_loaded: bool,
}

/// Parses the transforms of a citation, whose releases may be gone.
///
/// # Errors
/// The problem of `apply`: too many names, one twice, one that is none, or one without a version of
/// which no release is loaded.
pub fn parse_cited_apply(
    raw: &str,
    loaded: &[(&str, &str)],
) -> Result<Vec<CitedTransform>, ValidationError> {
    let cited = |(name, version): (&str, Option<&str>)| {
        let known = loaded.iter().find(|(known, _)| *known == name).map(|(_, version)| *version);
        let version = version.or(known).filter(|version| is_release(name, version));
        let version = version.ok_or_else(|| unknown(raw, name, loaded))?;
        let is_loaded = known == Some(version);
        Ok(CitedTransform { name: name.to_owned(), version: version.to_owned(), is_loaded })
    };
    split_names(raw)?.into_iter().map(cited).collect()
}

/// Returns whether a release of a transform may be called so (wit/1.2.0, `description`).
fn is_release(name: &str, version: &str) -> bool {
    let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let in_version = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
    name.len() <= 32
        && version.len() <= 64
        && name.bytes().all(in_name)
        && version.bytes().all(in_version)
}

/// Names, with the version that stands behind each.
fn split_names(raw: &str) -> Result<Vec<(&str, Option<&str>)>, ValidationError> {
    let refuse = |sentence: &str| Err(ValidationError::value_error("apply", sentence, raw));
    let named = raw.bytes().filter(|byte| *byte == b',').count() + 1;
    if named > MAX_TRANSFORMS {
        return refuse(&format!("apply lists {named} transforms and may list {MAX_TRANSFORMS}"));
    }
    let parts: Vec<(&str, Option<&str>)> = raw
        .split(',')
        .map(|part| match part.trim().split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (part.trim(), None),
        })
        .collect();
    if parts.iter().any(|(name, version)| name.is_empty() || *version == Some("")) {
        return refuse(
            "apply must be names of transforms separated by commas, none of them empty; leave it out for the rows as they are",
        );
    }
    let mut seen = HashSet::new();
    if let Some((name, _)) = parts.iter().find(|(name, _)| !seen.insert(*name)) {
        return refuse(&format!("transform '{name}' is named twice"));
    }
    Ok(parts)
}

/// The problem of `apply` at a route whose rows no transform takes.
pub(crate) fn refuse_apply(raw: Option<&str>) -> Option<ValidationError> {
    let sentence = "transforms take rows of a dataset alone; leave apply out, or ask /data";
    raw.map(|raw| ValidationError::value_error("apply", sentence, raw))
}

fn unknown(raw: &str, name: &str, loaded: &[(&str, &str)]) -> ValidationError {
    let names: Vec<&str> = loaded.iter().map(|(name, _)| *name).collect();
    let nearest = nearest_name(name, names.iter().copied());
    let nearest = nearest.map(|name| format!("the nearest is '{name}'; ")).unwrap_or_default();
    let loaded = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let sentence = format!("unknown transform '{name}'; {nearest}loaded: {loaded}");
    ValidationError::value_error("apply", &sentence, raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADED: [(&str, &str); 2] = [("aggregate", "1.0.0"), ("growth", "1.2.0")];

    #[test]
    fn transforms_are_named_in_order_each_once_contract_16() {
        for (raw, expected) in [
            ("growth", Ok(&["growth"][..])),
            ("growth,aggregate", Ok(&["growth", "aggregate"])),
            (" growth@1.2.0 , aggregate", Ok(&["growth", "aggregate"])),
            ("", Err("none of them empty")),
            ("growth,", Err("none of them empty")),
            ("growth@", Err("none of them empty")),
            ("@1.2.0", Err("none of them empty")),
            ("growth,growth@1.2.0", Err("transform 'growth' is named twice")),
            ("a,b,c,d,e", Err("apply lists 5 transforms and may list 4")),
            (
                "growht",
                Err(
                    "unknown transform 'growht'; the nearest is 'growth'; loaded: aggregate, growth",
                ),
            ),
            ("x", Err("unknown transform 'x'; loaded: aggregate, growth")),
            ("growth@2.0.0", Err("transform 'growth' is loaded in version 1.2.0, not 2.0.0")),
        ] {
            match (parse_apply(raw, &LOADED), expected) {
                (Ok(sent), Ok(expected)) => {
                    assert_eq!((sent.raw.as_str(), &sent.value[..]), (raw, &*owned(expected)));
                }
                (Err(problem), Err(expected)) => {
                    assert!(problem.msg.contains(expected), "{raw}: {}", problem.msg);
                    assert_eq!(problem.loc, ["query", "apply"]);
                    assert_eq!(problem.input.as_deref(), Some(raw));
                }
                (got, expected) => panic!("{raw}: {got:?}, not {expected:?}"),
            }
        }
        let none = parse_apply("x", &[]).map_err(|problem| problem.msg);
        assert_eq!(none, Err("Value error, unknown transform 'x'; loaded: none".to_owned()));
    }

    #[test]
    fn a_citation_names_releases_that_may_be_gone_contract_16() {
        let cited = |raw: &str| {
            let parsed = parse_cited_apply(raw, &LOADED).map_err(|problem| problem.msg)?;
            let text = |CitedTransform { name, version, is_loaded }: CitedTransform| {
                format!("{name} {version} {is_loaded}")
            };
            Ok::<_, String>(parsed.into_iter().map(text).collect::<Vec<_>>().join(", "))
        };
        for (raw, expected) in [
            ("growth", "growth 1.2.0 true"),
            ("growth@1.2.0", "growth 1.2.0 true"),
            ("growth@1.1.0,aggregate", "growth 1.1.0 false, aggregate 1.0.0 true"),
            ("gone@0.1.0-rc.1", "gone 0.1.0-rc.1 false"),
        ] {
            assert_eq!(cited(raw).as_deref(), Ok(expected), "{raw}");
        }
        let long = format!("a@{}", "1".repeat(65));
        for raw in ["gone", "Gone@1.0.0", "a b@1.0.0", "a@1 0", &long, "a@1,a@2", "a@1,,b@1", "a@"]
        {
            assert!(cited(raw).is_err(), "{raw}");
        }
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }
}
