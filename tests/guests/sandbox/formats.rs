//! Formats as components: lengths have 32 bits there, memory is bounded, and numbers are read by
//! instructions that no other machine has. Tests of a plugin's own code see none of it.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray as _, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use yearbook_sandbox::{Limits, OptionValue};
use yearbook_shares::CallerShare;
use yearbook_tests::components::encoder;

use super::{collect, source, text};

/// Rows of a batch at most.
const BATCH_ROWS: usize = 8_192;

/// The whole answer of a format for some rows.
async fn body(format: &str, rows: &RecordBatch, options: &[OptionValue]) -> Vec<u8> {
    let count = rows.num_rows();
    let slice = |first: usize| rows.slice(first, BATCH_ROWS.min(count - first));
    let batches = (0..count).step_by(BATCH_ROWS).map(|first| Ok(slice(first))).collect();
    let plugin = encoder(format, Limits::default());
    let encoded = plugin
        .encode(&CallerShare::default(), rows.schema(), options, source(batches))
        .await
        .unwrap_or_else(|error| panic!("{format}: {error}"));
    let (body, cut) = collect(encoded).await;
    assert!(!cut, "{format}");
    body
}

fn geometry() -> Field {
    Field::new("geometry_wkt", DataType::Utf8, true).with_metadata([("yearbook.role", "geometry")])
}

/// Points all over the earth with their numbers, and columns of one value.
fn points(count: usize) -> RecordBatch {
    let degrees = |step: usize, tenths: usize| (step % tenths) as f64 / 10.0 - tenths as f64 / 20.0;
    let point = |at: usize| {
        format!("POINT ({} {})", degrees(at * 7_919, 3_600), degrees(at * 104_729, 1_600))
    };
    let schema = Schema::new(vec![
        geometry(),
        Field::new("number", DataType::Int64, false),
        Field::new("kind", DataType::Utf8, false),
        Field::new("one", DataType::Int64, false),
        Field::new("two", DataType::Int64, false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values((0..count).map(point))),
        Arc::new(Int64Array::from_iter_values((0..).take(count))),
        Arc::new(StringArray::from(vec!["a"; count])),
        Arc::new(Int64Array::from(vec![1; count])),
        Arc::new(Int64Array::from(vec![2; count])),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tile_of_many_points_is_nearly_full_contract_18() {
    // The first number times the bytes of a tile is a little more than twice 2^32.
    for count in [17_180, 30_000] {
        let tile = body("mvt", &points(count), &[text("id", "number")]).await;
        let length = tile.len();
        assert!((450_000..=500_000).contains(&length), "{count} points are {length} bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_rows_before_many_light_ones_are_sent_in_formats_of_text_contract_3() {
    // With a quote and a line feed the text cannot stay with the host.
    let heavy = format!("\"two\"\n{}", "y".repeat(33_000));
    let text = |row: usize| if row < 64 { heavy.as_str() } else { "x" };
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..BATCH_ROWS).map(text)));
    let rows = RecordBatch::try_from_iter([("note", texts)]).unwrap();
    for format in ["json", "csv", "ndjson"] {
        let length = body(format, &rows, &[]).await.len();
        assert!(length > 64 * heavy.len(), "{format}: {length} bytes");
    }
}

/// Numbers of each length before and behind the point, and in forms that JSON does not have.
fn odd_numbers() -> Vec<String> {
    let digits = "9081726354".repeat(5);
    let odd = [
        "-0",
        "007",
        "1.",
        ".5",
        "+1.5",
        "1e3",
        "-2.5E-3",
        "5e-324",
        "1.7976931348623157e308",
        "0.30000000000000004",
        "-0.000000000000001",
    ];
    let mut numbers: Vec<String> = odd.map(str::to_owned).to_vec();
    for before in 1..=18_usize {
        for behind in 0..=18_usize {
            let sign = if (before + behind).is_multiple_of(2) { "" } else { "-" };
            let point = if behind > 0 { "." } else { "" };
            let (_, digits) = digits.split_at((before + behind) % 10);
            let (whole, rest) = digits.split_at(before);
            numbers.push(format!("{sign}{whole}{point}{}", &rest[..behind]));
        }
    }
    numbers
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_numbers_of_geometry_are_read_to_the_last_bit_contract_3() {
    let numbers = odd_numbers();
    let bytes = |number: &String| number.parse::<f64>().unwrap().to_le_bytes();
    // On a line much follows a number; behind the second one of a point there is next to nothing.
    let line: Vec<[&String; 2]> =
        numbers.iter().zip(numbers.iter().rev()).map(|(x, y)| [x, y]).collect();
    let positions: Vec<String> = line.iter().map(|[x, y]| format!("{x} {y}")).collect();
    let line_bytes: Vec<u8> = line.iter().flatten().flat_map(|number| bytes(number)).collect();
    let mut texts = vec![format!("LINESTRING ({})", positions.join(", "))];
    let mut expected = vec![line_bytes];
    for number in &numbers {
        texts.push(format!("POINT ({number} {number})"));
        expected.push([bytes(number), bytes(number)].concat());
    }
    let schema = Arc::new(Schema::new(vec![geometry()]));
    let column: ArrayRef = Arc::new(StringArray::from_iter_values(&texts));
    let rows = RecordBatch::try_new(schema, vec![column]).unwrap();
    let file = Bytes::from(body("geoparquet", &rows, &[]).await);
    let mut found: Vec<Vec<u8>> = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        found.extend(batch.column(0).as_binary::<i32>().iter().flatten().map(<[u8]>::to_vec));
    }
    assert_eq!(found.len(), texts.len());
    for ((found, expected), text) in found.iter().zip(&expected).zip(&texts) {
        // Byte order and kind; a line has the number of its positions, too.
        let head = if text.starts_with("POINT") { 5 } else { 9 };
        assert!(found[head..] == expected[..], "{}", text.get(..80).unwrap_or(text));
    }
}
