//! Parts of one response by several instances: the same bytes as by one, never at another
//! response's cost, and what parts leave for the tail.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use yearbook_sandbox::{Batches, EncodedBody, GuestError, Limits, PluginEncoder, Trap};
use yearbook_shares::CallerShare;
use yearbook_tests::components::encoder;

use super::{batch, collect, evil, limits, source, text};

/// Batches of uneven sizes, each with a dictionary of its own.
fn uneven() -> Vec<RecordBatch> {
    let one = |index: usize| {
        let rows = 1 + index * 977 % 3000;
        let few: DictionaryArray<Int32Type> = (0..rows)
            .map(|row| (row % 11 != 3).then(|| ["north", "so\"uth", "ea,st"][(row + index) % 3]))
            .collect();
        let texts: StringArray =
            (0..rows).map(|row| (row % 3 != 0).then(|| format!("row {index}/{row}"))).collect();
        let numbers: Float64Array =
            (0..rows).map(|row| (row % 7 != 0).then(|| row as f64 / 8.0)).collect();
        let columns: [(&str, ArrayRef, bool); 4] = [
            ("n", Arc::new(Int64Array::from_iter_values((0..).take(rows))), false),
            ("few", Arc::new(few), true),
            ("text", Arc::new(texts), true),
            ("value", Arc::new(numbers), true),
        ];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    (0..40).map(one).collect()
}

async fn encode(encoder: &Arc<PluginEncoder>, batches: &[RecordBatch]) -> Vec<u8> {
    let all = batches.iter().cloned().map(Ok).collect();
    let (body, cut) = collect(
        encoder
            .encode(&CallerShare::default(), batches[0].schema(), &[], source(all))
            .await
            .unwrap(),
    )
    .await;
    assert!(!cut);
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn several_instances_make_the_bytes_that_one_makes() {
    let batches = uneven();
    for format in ["json", "csv", "arrow", "parquet"] {
        let alone =
            encode(&encoder(format, Limits { parallel_parts: 1, ..Limits::default() }), &batches)
                .await;
        let together = encoder(format, Limits { parallel_parts: 4, ..Limits::default() });
        for _ in 0..5 {
            assert!(encode(&together, &batches).await == alone, "{format}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_for_each_part_makes_what_one_makes_where_a_separator_promises_it() {
    let batches = uneven();
    let schema = batches[0].schema();
    for format in ["json", "csv", "arrow", "parquet"] {
        let encoder = encoder(format, Limits::default());
        if encoder.description().separator.is_some() {
            let [one, apart] =
                [false, true].map(|apart| encoder.trial(&schema, &[], &batches, apart).unwrap());
            assert!(
                (&one.head, &one.parts, &one.tail) == (&apart.head, &apart.parts, &apart.tail),
                "{format}"
            );
        }
    }
    let liar = encoder("evil", limits());
    let [one, apart] = [false, true].map(|apart| {
        liar.trial(&schema, &[text("attack", "remember")], &batches[..3], apart).unwrap()
    });
    assert_eq!(
        (one.parts.concat(), apart.parts.concat()),
        (b"part 1 part 2 part 3 ".to_vec(), b"part 1 part 1 part 1 ".to_vec())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_too_long_for_a_call_is_made_in_halves_once() {
    let batches = uneven();
    let large = batches.iter().max_by_key(|batch| batch.num_rows()).unwrap().clone();
    for format in ["json", "csv", "arrow", "parquet"] {
        let one = std::slice::from_ref(&large);
        let whole = encode(&encoder(format, Limits::default()), one).await;
        let within = |output_bytes_per_call| {
            encoder(format, Limits { output_bytes_per_call, ..Limits::default() })
        };
        let halved = encode(&within(whole.len() * 3 / 4), one).await;
        // Rows of text stand one after the other; columns are a batch, or a row group, for each
        // half.
        assert_eq!(halved == whole, ["json", "csv"].contains(&format), "{format}");
        let halves = [
            large.slice(0, large.num_rows() / 2),
            large.slice(large.num_rows() / 2, large.num_rows().div_ceil(2)),
        ];
        if format == "arrow" {
            assert!(
                halved == encode(&encoder(format, Limits::default()), &halves).await,
                "as if it had been two parts"
            );
        }
        if format == "parquet" {
            let read =
                ParquetRecordBatchReaderBuilder::try_new(Bytes::from(halved.clone())).unwrap();
            let groups: Vec<i64> =
                read.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
            assert_eq!(groups, halves.map(|half| i64::try_from(half.num_rows()).unwrap()));
        }
        assert!(
            halved == encode(&within(whole.len() * 2 / 3), one).await,
            "{format}: the limit does not show in the bytes"
        );
        let all = one.iter().cloned().map(Ok).collect();
        let failed = within(whole.len() / 8)
            .encode(&CallerShare::default(), large.schema(), &[], source(all))
            .await
            .err();
        assert!(
            matches!(&failed, Some(GuestError::TooLarge { trap: Trap::Output(_), .. })),
            "{format}: once alone: {failed:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_in_halves_stay_in_order_whichever_instances_make_them() {
    let batches = uneven();
    for format in ["json", "csv"] {
        let encoder_of = |output_bytes_per_call| {
            encoder(
                format,
                Limits { output_bytes_per_call, parallel_parts: 4, ..Limits::default() },
            )
        };
        let usual = encoder_of(Limits::default().output_bytes_per_call);
        let longest = usual
            .trial(&batches[0].schema(), &[], &batches, false)
            .unwrap()
            .parts
            .iter()
            .map(Vec::len)
            .max()
            .unwrap();
        let expected = encode(&usual, &batches).await;
        let tight = encoder_of(longest * 3 / 5);
        for _ in 0..3 {
            assert!(encode(&tight, &batches).await == expected, "{format}");
        }
        assert_eq!(
            tight.free_instances(),
            usual.free_instances(),
            "{format}: every place was given back"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_reach_the_tail_with_the_places_of_their_parts() {
    let guest = encoder("evil", limits());
    let (body, cut) = collect(evil(&guest, "note", "part", 4).await.unwrap()).await;
    assert!(!cut);
    let expected = "head 2 rows 2 rows 2 rows 2 rows 5:note 12:note 19:note 26:note tail";
    assert_eq!(String::from_utf8(body).unwrap(), expected);
    let (body, _) = collect(evil(&guest, "note", "part", 1).await.unwrap()).await;
    assert_eq!(body, b"head 2 rows 5:note tail");
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_beyond_their_limit_cut_the_body_off() {
    let guest = encoder("evil", Limits { note_bytes: 3 << 20, ..limits() });
    let (_, cut) = collect(evil(&guest, "hoard", "part", 3).await.unwrap()).await;
    assert!(!cut);
    let (body, cut) = collect(evil(&guest, "hoard", "part", 4).await.unwrap()).await;
    assert!(cut && !body.ends_with(b"tail"));
}

#[tokio::test(flavor = "multi_thread")]
async fn further_instances_are_let_go_when_the_client_needs_them_no_more() {
    let guest = encoder("evil", Limits { parallel_parts: 4, ..limits() });
    let all = guest.free_instances();
    let endless: Batches = Box::pin(futures::stream::repeat_with(|| Ok(batch(2))));
    let EncodedBody::Stream(_chunks) =
        guest.encode(&CallerShare::default(), batch(0).schema(), &[], endless).await.unwrap()
    else {
        panic!("an endless body was whole")
    };
    tokio::time::timeout(Duration::from_secs(10), async {
        while guest.free_instances() != all - 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("one instance is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn further_instances_never_take_another_response_s_place() {
    let guest =
        encoder("evil", Limits { instances: 2, queue_ms: 0, parallel_parts: 8, ..limits() });
    let endless: Batches = Box::pin(futures::stream::repeat_with(|| Ok(batch(2))));
    let EncodedBody::Stream(mut chunks) =
        guest.encode(&CallerShare::default(), batch(0).schema(), &[], endless).await.unwrap()
    else {
        panic!("an endless body was whole")
    };
    for _ in 0..50 {
        futures::StreamExt::next(&mut chunks).await.unwrap().unwrap();
        assert!(evil(&guest, "none", "part", 1).await.is_ok());
    }
}
