//! The structure of a file of GeoJSON: what each value is by its place, and what may not stand
//! there.

use yearbook_json_parser::{JsonEvent, JsonHandler, JsonPath};

use super::Features;
use super::property::property_value;
use crate::geometry::Coordinates;

impl JsonHandler for Features {
    fn event(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        self.members.check(event, path)?;
        self.reference_system.check(event, path)?;
        self.page_signs.check(event, path)?;
        match (path.depth(), path.name(0)) {
            (0, _) if !matches!(event, JsonEvent::BeginObject | JsonEvent::EndObject) => {
                Err("a file of GeoJSON is an object".to_owned())
            }
            (1, Some("type")) => match event {
                JsonEvent::Text("FeatureCollection") => {
                    self.is_collection = true;
                    Ok(())
                }
                _ => {
                    Err("a file that is a table is a FeatureCollection; put the features into one"
                        .to_owned())
                }
            },
            (1, Some("features"))
                if !matches!(event, JsonEvent::BeginArray | JsonEvent::EndArray) =>
            {
                Err("is no array of features".to_owned())
            }
            (2, Some("features")) => match event {
                JsonEvent::BeginObject => Ok(()),
                JsonEvent::EndObject => self.end_feature(),
                _ => Err("is no feature".to_owned()),
            },
            (3.., Some("features")) => self.member(event, path),
            _ => Ok(()),
        }
    }
}

impl Features {
    fn member(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        match (path.depth(), path.name(2), path.name(3)) {
            (3, Some("type"), _) if event != JsonEvent::Text("Feature") => {
                Err("is no Feature; the array holds nothing else".to_owned())
            }
            (3, Some("id"), _) => {
                let id = property_value(event);
                self.id = id.map_err(|()| "is no id; write a text or a number".to_owned())?;
                Ok(())
            }
            (4, Some("properties"), Some(name)) => {
                // The end of an array or an object: its beginning was checked.
                if matches!(event, JsonEvent::EndArray | JsonEvent::EndObject) {
                    return Ok(());
                }
                self.add_property(name, event)
            }
            (3, Some(member @ ("geometry" | "properties")), _) => match event {
                JsonEvent::BeginObject => {
                    if member == "geometry" {
                        self.geometry = Some(Coordinates::default());
                    }
                    Ok(())
                }
                JsonEvent::EndObject | JsonEvent::Null => Ok(()),
                // A table without it would pass for what the file says.
                _ => Err("is no object; write one as RFC 7946 has it, or null".to_owned()),
            },
            (4.., Some("geometry"), Some(member)) => {
                let Some(geometry) = &mut self.geometry else { return Ok(()) };
                match (member, path.depth(), event) {
                    ("type", 4, JsonEvent::Text(kind)) => {
                        geometry.kind = Some(kind.chars().take(40).collect());
                        Ok(())
                    }
                    ("coordinates", _, JsonEvent::BeginArray) => geometry.open(),
                    ("coordinates", _, JsonEvent::EndArray) => geometry.close(),
                    ("coordinates", _, JsonEvent::Number(text)) => geometry.number(text),
                    ("coordinates", ..) => {
                        Err("is no coordinate; write numbers in arrays".to_owned())
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
