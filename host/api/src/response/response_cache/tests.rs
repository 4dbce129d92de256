//! Properties of the cache, whatever fills it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;

use super::*;

fn responses(bytes: u64, entry: usize) -> ResponseCache {
    ResponseCache::new(&ServerSettings {
        response_cache_bytes: bytes,
        response_cache_entry_bytes: entry,
        ..ServerSettings::default()
    })
}

fn whole(bytes: &[u8]) -> Result<RenderedBody, Error> {
    Ok(RenderedBody {
        content: BodyContent::Whole(Bytes::copy_from_slice(bytes)),
        counts: RowCounts { rows: Some(5), total: Some(9), next: Some(7) },
    })
}

fn text(made: &RenderedBody) -> Option<&[u8]> {
    match &made.content {
        BodyContent::Whole(bytes) => Some(bytes),
        BodyContent::Stream(_) => None,
    }
}

/// The body called `tag` in `coding`: from `cache`, or as `make` makes it.
async fn get<F>(
    cache: &ResponseCache,
    tag: &EntityTag,
    coding: Option<ContentCoding>,
    make: impl FnOnce() -> F,
) -> Result<RenderedBody, Error>
where
    F: Future<Output = Result<RenderedBody, Error>>,
{
    match cache.lookup(tag, coding).await {
        CacheLookup::Hit(body) => Ok(body),
        CacheLookup::Miss(slot) => {
            let outcome = make().await;
            slot.fill(&outcome);
            outcome
        }
    }
}

#[tokio::test]
async fn an_entry_is_found_by_tag_and_coding_with_its_next_row() {
    let kept = responses(1 << 20, 100);
    let (one, two) = (EntityTag::from_bytes(b"1"), EntityTag::from_bytes(b"2"));
    for (tag, coding, body) in [
        (&one, None, b"plain"),
        (&one, Some(ContentCoding::Gzip), b"gzipd"),
        (&two, None, b"other"),
    ] {
        assert_eq!(
            text(&get(&kept, tag, coding, async || whole(body)).await.unwrap()),
            Some(&body[..])
        );
        let again = get(&kept, tag, coding, async || panic!("it is there")).await.unwrap();
        assert_eq!(
            (text(&again), again.counts),
            (Some(&body[..]), RowCounts { rows: Some(5), total: Some(9), next: Some(7) })
        );
    }
    let counts = kept.stats();
    assert_eq!((counts.hits, counts.misses, counts.entries), (3, 3, 3));
    assert_eq!(counts.bytes, 3 * (5 + ENTRY_BYTES));
}

#[tokio::test]
async fn memory_is_bounded_whatever_is_asked_for() {
    let kept = responses(100_000, 10_000);
    for index in 0..1_000_u32 {
        let body = vec![0; index as usize * 10];
        get(&kept, &EntityTag::from_bytes(&index.to_le_bytes()), None, async || whole(&body))
            .await
            .unwrap();
        assert!(kept.stats().bytes <= 100_000, "{:?}", kept.stats());
    }
    assert!(kept.stats().entries > 5);
}

#[tokio::test]
async fn zero_bytes_switch_it_off() {
    let kept = responses(0, 100);
    for body in [b"1", b"2"] {
        assert_eq!(
            text(
                &get(&kept, &EntityTag::from_bytes(b"x"), None, async || whole(body))
                    .await
                    .unwrap()
            ),
            Some(&body[..])
        );
    }
    assert_eq!(kept.stats(), ResponseCacheStats::default());
}

#[tokio::test]
async fn what_is_long_or_a_stream_is_made_each_time() {
    let kept = responses(1 << 20, 4);
    let tag = EntityTag::from_bytes(b"x");
    for body in [b"long1", b"long2"] {
        assert_eq!(
            text(&get(&kept, &tag, None, async || whole(body)).await.unwrap()),
            Some(&body[..])
        );
    }
    let stream = async || {
        Ok(RenderedBody {
            content: BodyContent::Stream(Body::empty()),
            counts: RowCounts::default(),
        })
    };
    assert_eq!(text(&get(&kept, &tag, Some(ContentCoding::Zstd), stream).await.unwrap()), None);
    assert_eq!((kept.stats().hits, kept.stats().misses), (0, 3));
}

#[tokio::test]
async fn a_failure_is_nobody_elses_and_does_not_stay() {
    let kept = responses(1 << 20, 100);
    let tag = EntityTag::from_bytes(b"x");
    assert!(get(&kept, &tag, None, async || Err(Error::Internal)).await.is_err());
    assert_eq!(kept.stats().entries, 0);
    assert_eq!(
        text(&get(&kept, &tag, None, async || whole(b"ok")).await.unwrap()),
        Some(&b"ok"[..])
    );
}

#[tokio::test]
async fn many_at_once_make_it_once_and_a_long_one_at_the_same_time() {
    for (entry, expected) in [(100, 1), (1, 20)] {
        let kept = Arc::new(responses(1 << 20, entry));
        let made = Arc::new(AtomicUsize::new(0));
        let crowd: Vec<_> = (0..20)
            .map(|_| {
                let (kept, made) = (Arc::clone(&kept), Arc::clone(&made));
                tokio::spawn(async move {
                    let make = async || {
                        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                        made.fetch_add(1, Ordering::SeqCst);
                        whole(b"ok")
                    };
                    get(&kept, &EntityTag::from_bytes(b"x"), None, make).await.unwrap().counts.next
                })
            })
            .collect();
        for one in crowd {
            assert_eq!(one.await.unwrap(), Some(7));
        }
        assert_eq!(made.load(Ordering::SeqCst), expected, "entries of at most {entry} bytes");
    }
}

#[tokio::test]
async fn whoever_waits_for_one_that_gives_up_makes_it() {
    let kept = Arc::new(responses(1 << 20, 100));
    let tag = EntityTag::from_bytes(b"x");
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let first = tokio::spawn({
        let (kept, tag) = (Arc::clone(&kept), tag.clone());
        async move {
            let make = async || {
                begun.send(()).unwrap();
                std::future::pending().await
            };
            get(&kept, &tag, None, make).await.map(drop)
        }
    });
    has_begun.await.unwrap();
    let second = tokio::spawn(async move {
        get(&kept, &tag, None, async || whole(b"ok")).await.unwrap().counts.next
    });
    tokio::task::yield_now().await;
    first.abort();
    assert_eq!(second.await.unwrap(), Some(7));
}
