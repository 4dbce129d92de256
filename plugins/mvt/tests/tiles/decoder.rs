//! A reader of vector tiles, written from the specification for these tests alone.

use std::collections::BTreeMap;

/// A value of a property.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Integer(i64),
    Boolean(bool),
}

/// A feature.
#[derive(Debug, Clone)]
pub(crate) struct Feature {
    pub(crate) id: Option<u64>,
    /// 1 for points, 2 for lines, 3 for polygons.
    pub(crate) kind: u64,
    pub(crate) properties: BTreeMap<String, Value>,
    /// Points in one part, lines, or rings without their first position at the end.
    pub(crate) parts: Vec<Vec<[i64; 2]>>,
}

/// A layer.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) name: String,
    pub(crate) features: Vec<Feature>,
    pub(crate) keys: Vec<String>,
    pub(crate) values: Vec<Value>,
}

/// Content of a field.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Eight([u8; 8]),
}

struct Message<'a>(&'a [u8]);

impl Message<'_> {
    fn number(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = self.0.split_first().unwrap();
            self.0 = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = (u64, Field<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let tag = self.number();
        let field = match tag & 7 {
            0 => Field::Number(self.number()),
            1 => {
                let (eight, rest) = self.0.split_first_chunk().unwrap();
                self.0 = rest;
                Field::Eight(*eight)
            }
            2 => {
                let length = self.number().try_into().unwrap();
                let (bytes, rest) = self.0.split_at(length);
                self.0 = rest;
                Field::Bytes(bytes)
            }
            other => panic!("wire type {other}"),
        };
        Some((tag >> 3, field))
    }
}

/// The layer of a tile; `None` if it is empty.
pub(crate) fn layer(tile: &[u8]) -> Option<Layer> {
    let mut fields = Message(tile);
    let (number, field) = fields.next()?;
    assert!(number == 3 && fields.next().is_none(), "a tile has one layer");
    let Field::Bytes(bytes) = field else { panic!("a layer is a message") };
    let (mut name, mut keys, mut values, mut features) = (None, Vec::new(), Vec::new(), Vec::new());
    let (mut version, mut extent) = (None, None);
    for field in Message(bytes) {
        match field {
            (15, Field::Number(found)) => version = Some(found),
            (1, Field::Bytes(text)) => name = Some(String::from_utf8(text.to_vec()).unwrap()),
            (2, Field::Bytes(message)) => features.push(message),
            (3, Field::Bytes(text)) => keys.push(String::from_utf8(text.to_vec()).unwrap()),
            (4, Field::Bytes(message)) => values.push(value(message)),
            (5, Field::Number(found)) => extent = Some(found),
            (other, _) => panic!("field {other} of a layer"),
        }
    }
    assert_eq!((version, extent), (Some(2), Some(4096)));
    let features: Vec<Feature> =
        features.into_iter().map(|message| feature(message, &keys, &values)).collect();
    assert!(!features.is_empty(), "a layer has a feature");
    Some(Layer { name: name.unwrap(), features, keys, values })
}

/// The features of a tile.
pub(crate) fn features(tile: &[u8]) -> Vec<Feature> {
    layer(tile).map_or_else(Vec::new, |layer| layer.features)
}

fn signed(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn value(message: &[u8]) -> Value {
    let all: Vec<_> = Message(message).collect();
    let [(number, field)] = &all[..] else { panic!("a value is one field") };
    match (number, field) {
        (1, Field::Bytes(text)) => Value::Text(String::from_utf8(text.to_vec()).unwrap()),
        (3, Field::Eight(bytes)) => Value::Number(f64::from_le_bytes(*bytes)),
        (5, Field::Number(value)) => Value::Integer((*value).try_into().unwrap()),
        (6, Field::Number(value)) => Value::Integer(signed(*value)),
        (7, Field::Number(value)) => Value::Boolean(*value == 1),
        (other, _) => panic!("field {other} of a value"),
    }
}

fn feature(message: &[u8], keys: &[String], values: &[Value]) -> Feature {
    let packed = |bytes| {
        let mut numbers = Vec::new();
        let mut rest = Message(bytes);
        while !rest.0.is_empty() {
            numbers.push(rest.number());
        }
        numbers
    };
    let mut found = Feature { id: None, kind: 0, properties: BTreeMap::new(), parts: Vec::new() };
    let mut commands = Vec::new();
    for field in Message(message) {
        match field {
            (1, Field::Number(id)) => found.id = Some(id),
            (2, Field::Bytes(bytes)) => {
                for pair in packed(bytes).chunks(2) {
                    let at = |number: u64| usize::try_from(number).unwrap();
                    let (key, value) = (&keys[at(pair[0])], &values[at(pair[1])]);
                    let before = found.properties.insert(key.clone(), value.clone());
                    assert!(before.is_none(), "{key} twice");
                }
            }
            (3, Field::Number(kind)) => found.kind = kind,
            (4, Field::Bytes(bytes)) => commands = packed(bytes),
            (other, _) => panic!("field {other} of a feature"),
        }
    }
    found.parts = parts(found.kind, &commands);
    found
}

/// Follows the commands, as strictly as section 4.3.4 has them.
fn parts(kind: u64, commands: &[u64]) -> Vec<Vec<[i64; 2]>> {
    let (mut parts, mut at, mut rest) = (Vec::<Vec<[i64; 2]>>::new(), [0; 2], commands);
    let mut is_open = false;
    while let [command, after @ ..] = rest {
        let (id, count) = (command & 7, usize::try_from(command >> 3).unwrap());
        assert!(count > 0, "a command without positions");
        rest = after;
        if id == 7 {
            assert!(kind == 3 && count == 1 && is_open, "ClosePath");
            is_open = false;
            continue;
        }
        let (numbers, after) = rest.split_at(2 * count);
        rest = after;
        let mut positions = Vec::new();
        for step in numbers.chunks(2) {
            let step = [signed(step[0]), signed(step[1])];
            assert!(id != 2 || step != [0, 0], "a LineTo that goes nowhere");
            at = [at[0] + step[0], at[1] + step[1]];
            positions.push(at);
        }
        match id {
            1 => {
                assert!(!is_open && (kind == 1 || count == 1), "MoveTo");
                parts.push(positions);
                is_open = kind != 1;
            }
            2 => {
                assert!(is_open && count > usize::from(kind == 3), "LineTo");
                parts.last_mut().unwrap().extend(positions);
                is_open = kind == 3;
            }
            other => panic!("command {other}"),
        }
    }
    assert!(!is_open && !parts.is_empty(), "a part has no end");
    parts
}

/// Twice the area of a ring by the surveyor's formula.
pub(crate) fn twice_area(ring: &[[i64; 2]]) -> i64 {
    let next = ring.iter().cycle().skip(1);
    ring.iter().zip(next).map(|(at, next)| at[0] * next[1] - next[0] * at[1]).sum()
}
