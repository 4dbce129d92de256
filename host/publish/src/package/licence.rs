//! Licences that are known to allow redistribution (contract-7-bulk): which names of
//! `licenses[0].name` need no `bulk_redistribution`. A list of what is known to be allowed, so that
//! a name with anything else in it is never taken for free. Knows no licence texts.

/// A licence, or several that are spelled alike.
struct Family {
    /// Words of the name, one list for each usual spelling.
    spellings: &'static [&'static [&'static str]],
    /// Versions that exist; a name may leave the version out.
    versions: &'static [&'static str],
}

/// Licences that allow redistribution, commercial use and changes included (SPDX identifiers,
/// CKAN's, and full names).
const FAMILIES: [Family; 8] = [
    Family {
        spellings: &[
            &["cc", "0"],
            &["cc", "zero"],
            &["creative", "commons", "0"],
            &["creative", "commons", "zero"],
            &["creative", "commons", "cc", "0"],
        ],
        versions: &["1", "1.0"],
    },
    Family {
        spellings: &[&["cc", "by"], &["ccby"], &["creative", "commons", "attribution"]],
        versions: &CC_VERSIONS,
    },
    Family {
        spellings: &[
            &["cc", "by", "sa"],
            &["ccbysa"],
            &["creative", "commons", "attribution", "sharealike"],
            &["creative", "commons", "attribution", "share", "alike"],
        ],
        versions: &CC_VERSIONS,
    },
    Family {
        spellings: &[&["odc", "by"], &["open", "data", "commons", "attribution"]],
        versions: &["1", "1.0"],
    },
    Family {
        spellings: &[
            &["odbl"],
            &["odc", "odbl"],
            &["open", "database", "licence"],
            &["open", "data", "commons", "open", "database", "licence"],
        ],
        versions: &["1", "1.0"],
    },
    Family {
        spellings: &[
            &["pddl"],
            &["odc", "pddl"],
            &["public", "domain", "dedication", "and", "licence"],
            &["open", "data", "commons", "public", "domain", "dedication", "and", "licence"],
        ],
        versions: &["1", "1.0"],
    },
    Family {
        spellings: &[
            &["ogl"],
            &["oglv"],
            &["uk", "ogl"],
            &["ogl", "uk"],
            &["ogl", "canada"],
            &["open", "government", "licence"],
            &["open", "government", "licence", "canada"],
            &["uk", "open", "government", "licence"],
        ],
        versions: &["1", "1.0", "2", "2.0", "3", "3.0"],
    },
    Family {
        spellings: &[
            &["public", "domain"],
            &["publicdomain"],
            &["pd"],
            &["other", "pd"],
            &["us", "pd"],
            &["us", "public", "domain"],
            &["us", "gov"],
            &["us", "government"],
            &["us", "government", "work"],
            &["us", "government", "works"],
            &["us", "govt", "work"],
            &["us", "govt", "works"],
            &["cc", "pddc"],
            &["cc", "pdm"],
            &["pdm"],
            &["public", "domain", "mark"],
        ],
        versions: &["1", "1.0"],
    },
];

/// Versions of the Creative Commons licences.
const CC_VERSIONS: [&str; 9] = ["1", "1.0", "2", "2.0", "2.1", "2.5", "3", "3.0", "4.0"];

/// Words that say nothing about what is allowed.
const NEUTRAL: [&str; 10] = [
    "v",
    "version",
    "licence",
    "international",
    "unported",
    "generic",
    "universal",
    "igo",
    "deed",
    "dedication",
];

/// Countries whose ports of the Creative Commons licences SPDX or the agencies of this service
/// name: the same terms in another law. `nc` and `nd` are not among them and never may be.
const PORTS: [&str; 16] = [
    "at", "au", "br", "ca", "ch", "de", "es", "fr", "ie", "it", "jp", "nl", "nz", "uk", "us", "za",
];

/// True where the licence called `name` is known to allow redistribution of the whole table. What
/// stands in brackets must be known too: they hold a short name as often as a restriction.
pub(super) fn allows_redistribution(name: &str) -> bool {
    let mut names = name.split(['(', ')']).filter(|part| !part.trim().is_empty()).peekable();
    names.peek().is_some() && names.all(is_known)
}

fn is_known(name: &str) -> bool {
    let Some(words) = split_words(name) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    FAMILIES.iter().any(|family| {
        let mut rests =
            family.spellings.iter().filter_map(|spelling| words.strip_prefix(*spelling));
        rests.any(|rest| is_harmless(rest, family.versions))
    })
}

/// True where the words behind a licence's name are a version, a port or say nothing.
fn is_harmless(rest: &[&str], versions: &[&str]) -> bool {
    let is_number = |word: &&&str| word.bytes().all(|b| b.is_ascii_digit());
    let version = rest.iter().filter(is_number).copied().collect::<Vec<_>>().join(".");
    let others_are_known =
        rest.iter().all(|word| is_number(&word) || NEUTRAL.contains(word) || PORTS.contains(word));
    others_are_known && (version.is_empty() || versions.contains(&version.as_str()))
}

/// Lower-case runs of letters and of digits, in British spelling. None where there is any other
/// character than white space and the usual punctuation: what looks like a known name need not be
/// one.
fn split_words(name: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for c in name.trim().chars() {
        let kind = match c {
            'a'..='z' | 'A'..='Z' => Some('a'),
            '0'..='9' => Some('0'),
            // `U.S.` is one word.
            '.' if last == Some('a') => continue,
            ' ' | '-' | '_' | '.' | ',' | ':' | '/' => None,
            _ => return None,
        };
        match words.last_mut() {
            Some(word) if kind.is_some() && kind == last => word.push(c.to_ascii_lowercase()),
            _ if kind.is_some() => words.push(c.to_ascii_lowercase().to_string()),
            _ => {}
        }
        last = kind;
    }
    for word in words.iter_mut().filter(|word| *word == "license") {
        "licence".clone_into(word);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_that_allow_redistribution_are_known_in_their_usual_spellings_contract_7() {
        for name in [
            "CC0-1.0",
            "CC0 1.0",
            "CC0",
            "cc-zero",
            "CC0 1.0 Universal",
            "Creative Commons Zero v1.0 Universal",
            "CC-BY-4.0",
            "CC BY 4.0",
            "cc-by",
            "CC-BY 3.0 NZ",
            "CC-BY-3.0-IGO",
            "CC-BY-2.5-AU",
            "CC_BY_4.0",
            "ccby",
            "Creative Commons Attribution 4.0 International",
            "CC-BY-SA-4.0",
            "cc by-sa 3.0",
            "Creative Commons Attribution-ShareAlike 4.0",
            "ODC-By-1.0",
            "ODC-BY",
            "ODbL-1.0",
            "ODC-ODbL",
            "Open Database License (ODbL)",
            "Open Database License 1.0",
            "PDDL-1.0",
            "ODC-PDDL-1.0",
            "OGL-UK-3.0",
            "uk-ogl",
            "OGLv3",
            "OGL",
            "OGL-Canada-2.0",
            "Open Government Licence v3.0",
            "other-pd",
            "US-PD",
            "us-gov",
            "US-GOV",
            "U.S. Government Works",
            "Creative Commons Attribution 4.0 International (CC BY 4.0)",
            "CC0 1.0 Universal (CC0 1.0) Public Domain Dedication",
            "Public Domain",
            "public-domain",
            "CC-PDDC",
            "PDM 1.0",
            "Public Domain Mark 1.0",
        ] {
            assert!(allows_redistribution(name), "{name}");
        }
    }

    #[test]
    fn near_misses_and_unknown_licences_are_not_taken_for_free_contract_7() {
        for name in [
            "CC-BY-NC-ND-4.0",
            "CC BY-NC-ND",
            "CC-BY-ND-4.0",
            "CC-BY-NC-4.0",
            "CC-BY-NC-SA-4.0",
            "CC-BY-4.0-NC",
            "CC-BY-SA-NC",
            "cc-by-ncnd",
            "ccbync",
            "ccbynd",
            "CC BY (non-commercial)",
            "CC-BY-4.0 NonCommercial",
            "Creative Commons Attribution-NonCommercial 4.0",
            "Creative Commons Attribution-NoDerivatives 4.0",
            "CC-BY-5.0",
            "CC-BY-40",
            "CC",
            "BY-4.0",
            "CC0-NC",
            "CC1-0",
            "NC-CC0-1.0",
            "ODC-BY-2.0",
            "ODbL-NC",
            "PDDL-like",
            "OGL-UK-4.0",
            "OGL non-commercial",
            "Open Government",
            "Not Public Domain",
            "non-pd",
            "other-nc",
            "other-open",
            "other-closed",
            "other-at",
            "notspecified",
            "US-GOV-restricted",
            "LicenseRef-CC-BY-4.0",
            "LicenseRef-Demo-No-Bulk",
            "All rights reserved",
            "proprietary",
            "",
            "-",
            "CC\u{2011}BY\u{2011}4.0",
            "\u{441}\u{441}-by",
            "CC-BY-4.0 AND CC-BY-NC-4.0",
            "CC-BY-4.0 OR Proprietary",
            "CC-BY-4.0+",
            "MIT",
            "OECD terms and conditions",
        ] {
            assert!(!allows_redistribution(name), "{name}");
        }
    }
}
