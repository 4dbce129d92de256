//! All of a response before the first value.

use yearbook_sdk::text::Dialect as _;
use yearbook_sdk::text::json::Json;
use yearbook_sdk::{Code, Field, Schema};

use crate::cube::{Cube, codes};
use crate::statuses::Statuses;

/// Appends everything up to the first value.
pub(crate) fn write(schema: &Schema, cube: &Cube, statuses: &Statuses, out: &mut Vec<u8>) {
    let fields: Vec<&Field> =
        cube.dimensions.iter().map(|dimension| &schema.fields[dimension.column]).collect();
    let names = || fields.iter().map(|field| field.name.as_str());
    out.extend_from_slice(br#"{"version":"2.0","class":"dataset""#);
    for (member, key) in [("label", "yearbook.dataset"), ("source", "yearbook.attribution")] {
        if let Some(value) = schema.metadata(key) {
            next(member, out);
            text(value, out);
        }
    }
    if let Some(notes) = schema.metadata("yearbook.notes") {
        next("note", out);
        texts(notes.lines(), out);
    }
    next("id", out);
    texts(names().chain([&*cube.metric]), out);
    next("size", out);
    let sizes = cube.dimensions.iter().map(|dimension| dimension.size);
    list(sizes.chain([cube.values.len() as u64]), b"[]", out, |size, out| {
        out.extend_from_slice(size.to_string().as_bytes());
    });
    next("role", out);
    out.push(b'{');
    let times: Vec<&str> =
        fields.iter().filter(|field| field.is_date()).map(|field| field.name.as_str()).collect();
    if !times.is_empty() {
        out.extend_from_slice(br#""time":"#);
        texts(times.into_iter(), out);
        out.push(b',');
    }
    out.extend_from_slice(br#""metric":"#);
    texts([&*cube.metric].into_iter(), out);
    out.push(b'}');
    next("dimension", out);
    out.push(b'{');
    for field in fields {
        text(&field.name, out);
        out.extend_from_slice(br#":{"category":"#);
        category(codes(field).unwrap_or_default(), out);
        out.extend_from_slice(b"},");
    }
    text(&cube.metric, out);
    out.extend_from_slice(br#":{"category":"#);
    metrics(schema, cube, out);
    out.extend_from_slice(b"}}");
    next("extension", out);
    let facts = schema.provenance().filter_map(|(name, fact)| Some((name, fact?)));
    list(facts, b"{}", out, |(name, fact), out| pair(name, fact, out));
    let labels = statuses.labels(schema);
    if !labels.is_empty() {
        // As statistical offices extend JSON-stat, in the object that was closed last.
        out.pop();
        if !out.ends_with(b"{") {
            out.push(b',');
        }
        out.extend_from_slice(br#""status":{"label":"#);
        list(labels.into_iter(), b"{}", out, |(code, label), out| pair(code, label, out));
        out.extend_from_slice(b"}}");
    }
    next("value", out);
    out.push(b'{');
}

/// Appends the categories of a column, with the labels that there are.
fn category(codes: &[Code], out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"index":"#);
    texts(codes.iter().map(|code| code.value.as_str()), out);
    let labels = codes.iter().filter_map(|code| Some((&code.value, code.label.as_ref()?)));
    if labels.clone().next().is_some() {
        next("label", out);
        list(labels, b"{}", out, |(value, label), out| pair(value, label, out));
    }
    out.push(b'}');
}

/// Appends the columns of values, with the units that there are.
fn metrics(schema: &Schema, cube: &Cube, out: &mut Vec<u8>) {
    let fields = || cube.values.iter().map(|column| &schema.fields[*column]);
    out.extend_from_slice(br#"{"index":"#);
    texts(fields().map(|field| field.name.as_str()), out);
    let units = fields().filter_map(|field| Some((&field.name, field.unit()?)));
    if units.clone().next().is_some() {
        next("unit", out);
        list(units, b"{}", out, |(name, unit), out| {
            text(name, out);
            out.extend_from_slice(br#":{"label":"#);
            text(unit, out);
            out.push(b'}');
        });
    }
    out.push(b'}');
}

fn next(member: &str, out: &mut Vec<u8>) {
    out.push(b',');
    text(member, out);
    out.push(b':');
}

fn pair(name: &str, value: &str, out: &mut Vec<u8>) {
    text(name, out);
    out.push(b':');
    text(value, out);
}

fn text(value: &str, out: &mut Vec<u8>) {
    Json.text(value.as_bytes(), out);
}

fn texts<'a>(values: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    list(values, b"[]", out, text);
}

/// Appends items with commas between them, in these brackets.
fn list<T>(
    items: impl Iterator<Item = T>,
    brackets: &[u8; 2],
    out: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>),
) {
    out.push(brackets[0]);
    for (position, item) in items.enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(brackets[1]);
}
