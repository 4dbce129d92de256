//! Reference systems that files from before RFC 7946 name: WGS 84 in each of its spellings,
//! longitude first. Any other, and one that is not known, is refused; nothing is transformed.

use yearbook_json_parser::{JsonEvent, JsonPath};

/// The name of the member.
const CRS: Option<&str> = Some("crs");

/// Members of `properties` that name a reference system, in the forms of GeoJSON of 2008 and of
/// programs from before it.
const NAMES: [&str; 5] = ["name", "code", "urn", "url", "href"];

/// Words that stand before the code of WGS 84 in its names and addresses.
const WORDS: [&str; 21] = [
    "urn",
    "x",
    "ogc",
    "def",
    "crs",
    "geographiccrs",
    "epsg",
    "wgs",
    "wgs84",
    "http",
    "https",
    "www",
    "opengis",
    "net",
    "gml",
    "srs",
    "xml",
    "spatialreference",
    "org",
    "ref",
    "io",
];

const NAMELESS: &str = "where the file is WGS 84, longitude first (OGC:CRS84), leave it out";

/// A reference system while it is parsed.
#[derive(Debug, Default)]
pub(super) struct ReferenceSystem {
    is_known: bool,
}

impl ReferenceSystem {
    /// Takes a value that is, or is in, the `crs` of the file, of a feature or of a geometry.
    ///
    /// # Errors
    /// Fails where it is another one than WGS 84.
    pub(super) fn check(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        let members: [&[Option<&str>]; 3] = [
            &[CRS],
            &[Some("features"), None, CRS],
            &[Some("features"), None, Some("geometry"), CRS],
        ];
        let Some(member) = members.into_iter().find(|member| path.begins_with(member)) else {
            return Ok(());
        };
        let at = member.len();
        let is_name = path.depth() == at + 2
            && path.name(at) == Some("properties")
            && path.name(at + 1).is_some_and(|name| NAMES.contains(&name));
        match event {
            JsonEvent::Text(name) if is_name || path.depth() == at => {
                self.is_known = true;
                check_name(name)
            }
            JsonEvent::Number(code) if is_name => {
                self.is_known = true;
                check_name(code)
            }
            JsonEvent::BeginArray | JsonEvent::Boolean(_) | JsonEvent::Number(_)
                if path.depth() == at =>
            {
                Err(format!("is no reference system; {NAMELESS}"))
            }
            JsonEvent::BeginObject if path.depth() == at => {
                self.is_known = false;
                Ok(())
            }
            JsonEvent::EndObject if path.depth() == at && !self.is_known => {
                Err(format!("names no reference system; {NAMELESS}"))
            }
            _ => Ok(()),
        }
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if is_wgs_84(name) {
        return Ok(());
    }
    let name: String = name.chars().take(60).collect();
    Err(format!("is {name:?}; transform the file to WGS 84, longitude first (OGC:CRS84)"))
}

/// Returns whether a name is one of WGS 84, longitude first. Programs write longitude first under
/// EPSG:4326 too; services that name it by its address in `/def/crs/` keep to its own order,
/// latitude first.
fn is_wgs_84(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let (before, is_code) = match &words[..] {
        [before @ .., "crs84" | "crs84h"] | [before @ .., "crs", "84"] => (before, true),
        ["wgs84"] | ["wgs", "84"] | ["4326"] => return true,
        [before @ .., "4326" | "4979"] => {
            (before, before.contains(&"epsg") && !name.contains("/def/crs/"))
        }
        _ => return false,
    };
    is_code && names_no_code(before)
}

/// Returns whether words are those before a code, and the parts of a version: a name of several
/// systems has the code of another one there.
fn names_no_code(words: &[&str]) -> bool {
    let mut before = "";
    words.iter().all(|word| {
        let is_number = word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        match std::mem::replace(&mut before, word) {
            "wgs" => *word == "84",
            "crs" if is_number => false,
            _ => is_number || WORDS.contains(word),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wgs_84_is_known_in_every_spelling_contract_7() {
        for name in [
            "urn:ogc:def:crs:OGC:1.3:CRS84",
            "urn:ogc:def:crs:OGC:1.3:CRS:84",
            "urn:ogc:def:crs:OGC::CRS84",
            "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
            "https://www.opengis.net/def/crs/OGC/0/CRS84h",
            "OGC:CRS84",
            "CRS:84",
            "EPSG:4326",
            "epsg:4326",
            "urn:ogc:def:crs:EPSG::4326",
            "urn:ogc:def:crs:EPSG:6.6:4326",
            "urn:x-ogc:def:crs:EPSG:4326",
            "http://www.opengis.net/gml/srs/epsg.xml#4326",
            "urn:ogc:def:crs:EPSG::4979",
            "4326",
            "WGS 84",
            "WGS 84 (EPSG:4326)",
            "urn:ogc:def:crs:EPSG:10.076:4326",
            "https://epsg.io/4326",
            "https://spatialreference.org/ref/epsg/4326/",
        ] {
            assert!(is_wgs_84(name), "{name}");
        }
        for name in [
            "urn:ogc:def:crs:EPSG::4272",
            "EPSG:4283",
            "EPSG:2193",
            "EPSG:3857",
            "EPSG:4326+5773",
            "ESRI:104326",
            "urn:ogc:def:crs:OGC:1.3:CRS83",
            "http://www.opengis.net/def/crs/EPSG/0/4326",
            "WGS 84 / UTM zone 60S",
            "urn:ogc:def:crs,crs:EPSG::2193,crs:EPSG::4326",
            "EPSG:2193,EPSG:4326",
            "EPSG:2193/OGC:CRS84",
            "NZGD2000 CRS84",
            "ÉTRS CRS84",
            "CRS:83,CRS:84",
            "WGS 72 CRS84",
            "",
        ] {
            assert!(!is_wgs_84(name), "{name}");
        }
    }
}
