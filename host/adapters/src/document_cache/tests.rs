//! Documents that are kept, and those that give way. Never touches an adapter.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn revision(catalogue: i64) -> Revision {
    Revision { catalogue, plugins: Weak::new() }
}

fn kept(bytes: usize) -> Arc<KeptAnswer> {
    let document = adapter::Document {
        status: 200,
        media_type: "text/plain".to_owned(),
        language: None,
        location: None,
        links: Vec::new(),
        body: vec![b'x'; bytes],
    };
    let document = PreparedDocument::with_tag_of(&[], document).unwrap();
    Arc::new(KeptAnswer {
        answer: CachedAnswer::Document(document.into()),
        questions: Vec::new(),
        facts: [0; 32],
    })
}

fn number(index: usize) -> DocumentKey {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&index.to_le_bytes());
    key
}

fn has(cache: &AdapterDocumentCache, index: usize) -> bool {
    cache.get(&number(index), &revision(0)).is_some()
}

#[test]
fn a_client_that_asks_for_much_gives_up_its_own_documents_contract_17() {
    let cache = AdapterDocumentCache::new(64 * kept(100).bytes());
    for index in 0..8 {
        cache.insert(number(index), "others", kept(100), revision(0));
    }
    for index in 100..10_000 {
        cache.insert(number(index), "flood", kept(100), revision(0));
        assert!(cache.lock().bytes <= cache.bytes);
    }
    assert!((0..8).all(|index| has(&cache, index)), "what others asked for stays");
    assert!(has(&cache, 9_999) && !has(&cache, 100));
    let entries = cache.lock();
    assert_eq!(entries.all.len(), 64);
    let held: usize = entries.owners.values().map(|owner| owner.keys.len()).sum();
    assert_eq!(held, 64, "nothing is remembered of what is gone");
}

#[test]
fn what_is_asked_for_again_outlives_what_is_not() {
    let cache = AdapterDocumentCache::new(16 * kept(100).bytes());
    cache.insert(number(0), "one", kept(100), revision(0));
    for index in 1..100 {
        assert!(has(&cache, 0), "{index}");
        cache.insert(number(index), "one", kept(100), revision(0));
    }
    assert!(!has(&cache, 50));
}

#[test]
fn a_document_is_true_for_a_revision_until_it_is_renewed_contract_17() {
    let cache = AdapterDocumentCache::new(1 << 20);
    let document = kept(10);
    cache.insert(number(0), "one", Arc::clone(&document), revision(1));
    let is_true = |at: i64| cache.get(&number(0), &revision(at)).unwrap().1;
    assert!(is_true(1) && !is_true(2));
    cache.renew(&number(0), &kept(10), revision(2));
    assert!(!is_true(2), "another document of the same name");
    cache.renew(&number(0), &document, revision(2));
    assert!(is_true(2));
    let other_plugins = Arc::new(PluginSet::default());
    let other = Revision { catalogue: 2, plugins: Arc::downgrade(&other_plugins) };
    assert!(!cache.get(&number(0), &other).unwrap().1, "other formats are loaded");
}

#[test]
fn a_document_that_fills_the_memory_is_not_kept_contract_17() {
    let cache = AdapterDocumentCache::new(8_000);
    cache.insert(number(0), "one", kept(500), revision(0));
    assert!(!has(&cache, 0));
    assert_eq!(cache.stats().bytes, 0);
    let none = AdapterDocumentCache::new(0);
    none.insert(number(0), "one", kept(0), revision(0));
    assert!(!has(&none, 0));
}
