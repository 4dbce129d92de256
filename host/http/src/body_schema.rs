//! JSON schemas of bodies, derived from the types that are serialised:
//! [`json_body`](crate::json_body) declares a type and its schema at once, so that the machine
//! description cannot say anything else than what is sent. Bodies that plugins make are not
//! described here.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use yearbook_domain::credit::{SourceEntry, SourceUrlPrecision};
use yearbook_domain::meaning::Language;
use yearbook_domain::{
    BoundingBox, ColumnRole, ColumnType, DatasetName, Date, Millis, Namespace, Plan, SnapshotId,
    TableLayout,
};

/// A type that stands in bodies of responses.
pub trait BodySchema {
    /// Name of its schema among the components of the document, where it has one.
    const COMPONENT: Option<&'static str> = None;

    /// Set for members that objects may leave out.
    const IS_OPTIONAL: bool = false;

    /// Returns the schema of its values.
    fn schema() -> Value;

    /// Returns what stands for the schema within others: a reference, where it has a name.
    fn nested_schema() -> Value {
        Self::COMPONENT.map_or_else(Self::schema, reference)
    }
}

/// Declares structs that are serialised as JSON objects, each with its schema. After the name
/// stands the schema's name among the components (`named`), if it has one, then its description.
/// A field may have another name on the wire (`as "type"`), and members that its schema has
/// besides those of its type (`=> {"minimum": 0}`).
///
/// `for Type { … }` describes a struct that is declared elsewhere: it does not compile unless it
/// names all fields of that struct with their types.
#[macro_export]
macro_rules! json_body {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$life:lifetime>)? $(named $component:literal)?: $about:literal {
            $($(#[$doc:meta])* $field_vis:vis $field:ident $(as $wire:literal)?: $type:ty $(=> $more:tt)?),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(serde::Serialize)]
        $vis struct $name $(<$life>)? {
            $($(#[$doc])* $(#[serde(rename = $wire)])? $field_vis $field: $type,)*
        }

        impl $(<$life>)? $crate::body_schema::BodySchema for $name $(<$life>)? {
            $(const COMPONENT: Option<&'static str> = Some($component);)?

            $crate::object_schema!(
                $about, $($field $(as $wire)?: $type $(=> $more)?,)*
            );
        }
    )*};
    (for $name:ident named $component:literal: $about:literal {
        $($field:ident $(as $wire:literal)?: $type:ty $(=> $more:tt)?),* $(,)?
    }) => {
        impl $crate::body_schema::BodySchema for $name {
            const COMPONENT: Option<&'static str> = Some($component);

            $crate::object_schema!(
                $about, $($field $(as $wire)?: $type $(=> $more)?,)*
            );
        }

        const _: fn($name) -> ($($type,)*) = |$name { $($field),* }| ($($field,)*);
    };
}

/// Implements [`BodySchema::schema`] from fields.
#[doc(hidden)]
#[macro_export]
macro_rules! object_schema {
    ($about:literal, $($field:ident $(as $wire:literal)?: $type:ty $(=> $more:tt)?,)*) => {
        fn schema() -> serde_json::Value {
            $crate::body_schema::object_of($about, [$((
                // The name on the wire, where there is one.
                [$($wire,)? stringify!($field)][0],
                <$type as $crate::body_schema::BodySchema>::IS_OPTIONAL,
                $crate::body_schema::member::<$type>(
                    [$(serde_json::json!($more),)?],
                ),
            ),)*])
        }
    };
}

json_body! {
    for SourceEntry named "SourceEntry": "A source that the publisher names." {
        title: Option<String>,
        path: Option<String> => {"description": "Its address."},
    }
}

/// Returns the schema of an object with all of these properties always there.
pub fn object<const N: usize>(about: &str, properties: [(&str, Value); N]) -> Value {
    object_of(about, properties.map(|(name, schema)| (name, false, schema)))
}

/// Returns the schema of an object with these properties: name, whether it may be left out, schema.
pub fn object_of<const N: usize>(about: &str, properties: [(&str, bool, Value); N]) -> Value {
    let always = properties.iter().filter(|(_, is_optional, _)| !is_optional);
    let required: Vec<String> = always.map(|(name, ..)| (*name).to_owned()).collect();
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, _, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "description": about, "properties": properties, "required": required})
}

/// Returns the schema of a property: that of its type with `more` members.
pub fn member<T: BodySchema + ?Sized>(more: impl IntoIterator<Item = Value>) -> Value {
    let mut schema = T::nested_schema();
    for more in more {
        if let (Some(schema), Value::Object(more)) = (schema.as_object_mut(), more) {
            schema.extend(more);
        }
    }
    schema
}

/// Returns a reference to a component.
pub fn reference(component: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{component}")})
}

/// A member that is left out where there is nothing to say, under
/// `#[serde(skip_serializing_if = "OptionalMember::is_absent")]`.
pub struct OptionalMember<T>(pub Option<T>);

impl<T> OptionalMember<T> {
    /// Returns true where nothing is said.
    pub fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T: Serialize> Serialize for OptionalMember<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: BodySchema> BodySchema for OptionalMember<T> {
    const COMPONENT: Option<&'static str> = T::COMPONENT;
    const IS_OPTIONAL: bool = true;

    fn schema() -> Value {
        T::schema()
    }
}

/// An instant, RFC 3339 in UTC with whole seconds.
pub struct Rfc3339(pub Millis);

impl Serialize for Rfc3339 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_rfc3339())
    }
}

/// Texts by the path of a file, in the order of the files.
pub struct TextsByPath<'a>(pub Vec<(&'a str, &'a str)>);

impl Serialize for TextsByPath<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// Implements [`BodySchema`] with the same schema for types.
macro_rules! schema_of {
    ($($($type:ty),+ => $schema:tt;)*) => {$($(
        impl BodySchema for $type {
            fn schema() -> Value {
                json!($schema)
            }
        }
    )+)*};
}

schema_of! {
    str, String, DatasetName, Namespace, SnapshotId, Language => {"type": "string"};
    bool => {"type": "boolean"};
    u16, u64 => {"type": "integer"};
    f64 => {"type": "number"};
    Rfc3339 => {"type": "string", "format": "date-time"};
    Date => {"type": "string", "format": "date"};
    TextsByPath<'_> => {"type": "object", "additionalProperties": {"type": "string"}};
    BoundingBox => {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4};
    ColumnType => {"enum": (ColumnType::ALL)};
    ColumnRole => {"enum": (ColumnRole::ALL)};
    TableLayout => {"enum": (TableLayout::ALL)};
    SourceUrlPrecision => {"enum": (SourceUrlPrecision::ALL)};
    Plan => {"enum": (Plan::ALL)};
}

impl<T: BodySchema + ?Sized> BodySchema for &T {
    const COMPONENT: Option<&'static str> = T::COMPONENT;

    fn schema() -> Value {
        T::schema()
    }
}

impl<T: BodySchema> BodySchema for Option<T> {
    fn schema() -> Value {
        let mut schema = T::schema();
        if let Some(kind) = schema.get_mut("type") {
            match kind.as_array_mut() {
                Some(kinds) => kinds.push(json!("null")),
                None => *kind = json!([kind.take(), "null"]),
            }
        }
        if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            words.push(Value::Null);
        }
        schema
    }
}

impl<T: BodySchema> BodySchema for [T] {
    fn schema() -> Value {
        json!({"type": "array", "items": T::nested_schema()})
    }
}

impl<T: BodySchema> BodySchema for Vec<T> {
    fn schema() -> Value {
        <[T]>::schema()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    json_body! {
        struct Sample<'a> named "Sample": "A sample." {
            kind as "type": &'a str => {"description": "Its kind."},
            count: Option<u64> => {"minimum": 0},
            parts: Vec<Part>,
        }

        struct Part: "A part." {
            day: Option<TableLayout>,
            #[serde(skip_serializing_if = "OptionalMember::is_absent")]
            night: OptionalMember<bool>,
        }
    }

    #[test]
    fn a_body_and_its_schema_have_the_same_members() {
        let sample = Sample {
            kind: "x",
            count: None,
            parts: vec![Part { day: None, night: OptionalMember(None) }],
        };
        assert_eq!(json!(sample), json!({"type": "x", "count": null, "parts": [{"day": null}]}));
        let part = json!({
            "type": "object", "description": "A part.",
            "properties": {"day": {"enum": ["long", "wide", null]}, "night": {"type": "boolean"}}, "required": ["day"],
        });
        let expected = json!({
            "type": "object", "description": "A sample.",
            "properties": {
                "type": {"type": "string", "description": "Its kind."},
                "count": {"type": ["integer", "null"], "minimum": 0},
                "parts": {"type": "array", "items": part},
            },
            "required": ["type", "count", "parts"],
        });
        assert_eq!(Sample::schema(), expected);
        assert_eq!(<[Sample<'_>]>::schema()["items"], reference("Sample"));
    }
}
