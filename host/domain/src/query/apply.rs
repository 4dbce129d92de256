//! `apply`, validated by itself against the transforms that are loaded (contract-16-apply).

use std::collections::HashSet;

use super::conditions::nearest_name;
use super::selection::Sent;
use crate::ValidationError;

/// Transforms in `apply` at most.
const MAX_TRANSFORMS: usize = 4;

/// Names of transforms, each behind which `@VERSION` may stand; blanks around one are dropped.
/// `loaded` are names with the version that is loaded.
pub(super) fn parse_apply(
    raw: &str,
    loaded: &[(&str, &str)],
) -> Result<Sent<Vec<String>>, ValidationError> {
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
    for &(name, version) in &parts {
        match (loaded.iter().find(|(known, _)| *known == name), version) {
            (None, _) => return refuse(&unknown(name, loaded)),
            (Some((_, known)), Some(version)) if *known != version => {
                return refuse(&format!(
                    "transform '{name}' is loaded in version {known}, not {version}; \
                     leave @{version} out for that one"
                ));
            }
            _ => {}
        }
    }
    Ok(Sent::new(raw, parts.into_iter().map(|(name, _)| name.to_owned()).collect()))
}

/// The problem of `apply` at a route whose rows no transform takes.
pub(crate) fn refuse_apply(raw: Option<&str>) -> Option<ValidationError> {
    let sentence = "transforms take rows of a dataset alone; leave apply out, or ask /data";
    raw.map(|raw| ValidationError::value_error("apply", sentence, raw))
}

fn unknown(name: &str, loaded: &[(&str, &str)]) -> String {
    let names: Vec<&str> = loaded.iter().map(|(name, _)| *name).collect();
    let nearest = nearest_name(name, names.iter().copied());
    let nearest = nearest.map(|name| format!("the nearest is '{name}'; ")).unwrap_or_default();
    let loaded = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("unknown transform '{name}'; {nearest}loaded: {loaded}")
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

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }
}
