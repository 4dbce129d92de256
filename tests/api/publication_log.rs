//! The log of what was published: checkpoint, tiles, and the proof of a citation.

use std::ops::Range;

use yearbook_catalog::Retention;
use yearbook_domain::{LogEntry, Millis};
use yearbook_log::{
    Checkpoint, Hash, HashTiles, InclusionProof, LogError, SigningKey, TileAddress, VerifierKey,
    check_consistency, consistency_ranges, read_bundle,
};
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, harvest, parks, unbounded};

const DAY: i64 = 86_400_000;

/// The key and the checkpoint that `app` states now.
async fn head(app: &TestApp, cited: &str) -> (VerifierKey, Checkpoint) {
    let proof = app.get(&format!("{cited}/proof")).send().await.json();
    let key = VerifierKey::parse(proof["key"].as_str().unwrap()).unwrap();
    let note = app.get("/log/checkpoint").send().await;
    assert_eq!(note.status, 200, "{}", note.text());
    (key.clone(), Checkpoint::open(&note.text(), &key).unwrap())
}

async fn tiles(app: &TestApp, size: u64, ranges: &[Range<u64>]) -> HashTiles {
    let mut tiles = HashTiles::new(size);
    for address in tiles.missing(ranges) {
        let reply = app.get(&format!("/log/tile/{address}")).send().await;
        assert_eq!(reply.status, 200, "{address}");
        tiles.insert(address, &reply.body).unwrap();
    }
    tiles
}

#[tokio::test]
async fn the_log_is_a_checkpoint_and_tiles_for_everybody_contract_21() {
    let app = TestApp::start().await;
    let empty = app.get("/log/checkpoint").send().await.text();
    assert!(
        empty.starts_with("localhost/log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n")
    );
    let ids = [app.publish(&harvest()).await, app.publish(&parks()).await];
    let cited = format!("/cite/harvest/{}", ids[0]);
    let (_, head) = head(&app, &cited).await;
    assert_eq!((head.origin.as_str(), head.size), ("localhost/log", 2));
    let note = app.get("/log/checkpoint").send().await;
    assert_eq!(note.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(note.header("cache-control"), "public, max-age=2");

    let whole = 0..2;
    let tiles = tiles(&app, 2, std::slice::from_ref(&whole)).await;
    assert_eq!(tiles.root(), Some(head.root));
    let bundle = app.get("/log/tile/entries/000.p/2").send().await;
    assert_eq!(bundle.header("content-type"), "application/octet-stream");
    assert_eq!(bundle.header("cache-control"), "public, max-age=31536000, immutable");
    let entries = read_bundle(&bundle.body, 2).unwrap();
    for (entry, (id, name)) in entries.iter().zip(ids.iter().zip(["harvest", "parks"])) {
        let text = std::str::from_utf8(entry).unwrap();
        let read = LogEntry::from_leaf(text).unwrap();
        assert_eq!((read.dataset.as_str(), read.snapshot.as_str()), (name, id.as_str()));
        assert_eq!((read.version, read.committed), (0, read.released));
        let cited = app.get(&format!("/cite/{name}/{id}?format=text")).send().await.text();
        assert!(cited.contains(&read.digest.to_string()), "{cited}");
    }
    let leaves: Vec<u8> = entries.iter().flat_map(|entry| Hash::leaf(entry).0).collect();
    assert_eq!(app.get("/log/tile/0/000.p/2").send().await.body, leaves);
    let again = app.get("/log/tile/0/000.p/2").header("if-none-match", &bundle.header("etag"));
    assert_eq!(again.send().await.status, 200, "another tile");
    for path in ["/log/checkpoint", "/log/tile/0/000.p/2", "/log/tile/entries/000.p/1"] {
        let tag = app.head(path).send().await.header("etag");
        assert_eq!(app.get(path).header("if-none-match", &tag).send().await.status, 304, "{path}");
    }
    for path in [
        "/log/tile/0/000",
        "/log/tile/0/000.p/3",
        "/log/tile/0/001.p/1",
        "/log/tile/1/000.p/1",
        "/log/tile/entries/000.p/3",
        "/log/tile/8/000.p/1",
        "/log/tile/0/0",
        "/log/tile/checkpoint",
        "/log",
    ] {
        assert_eq!(app.get(path).send().await.status, 404, "{path}");
    }
    assert_eq!(app.ask("POST", "/log/checkpoint").send().await.status, 405);
}

#[tokio::test]
async fn a_log_of_several_tiles_goes_on_from_each_checkpoint_contract_21() {
    let app = TestApp::start().await;
    let mut cited = String::new();
    let mut kept = Vec::new();
    for version in 0..259_i64 {
        let table = parks().with_appended(&format!("P{version},{version},\n"));
        let id = app.publish_at(&table, Millis(1_700_000_000_000 + version * DAY)).await;
        cited = format!("/cite/parks/{id}");
        if [1, 100, 255, 256].contains(&(version + 1)) {
            kept.push(head(&app, &cited).await.1);
        }
    }
    let (key, newest) = head(&app, &cited).await;
    assert_eq!(newest.size, 259);
    for older in &kept {
        let ranges = consistency_ranges(older.size, newest.size);
        let proof = tiles(&app, newest.size, &ranges).await.hashes(&ranges).unwrap();
        let (old, new) = ((older.size, older.root), (newest.size, newest.root));
        check_consistency(old, new, &proof).unwrap();
        let other = (older.size, Hash([1; 32]));
        assert_eq!(check_consistency(other, new, &proof), Err(LogError::Inconsistent));
    }
    let full = app.get("/log/tile/0/000").send().await;
    let partial = app.get("/log/tile/0/000.p/100").send().await;
    assert_eq!((full.body.len(), &full.body[..3_200]), (8_192, &partial.body[..]));
    let address = TileAddress::parse("0/000").unwrap();
    let mut first = HashTiles::new(256);
    first.insert(address, &full.body).unwrap();
    let above = app.get("/log/tile/1/000.p/1").send().await;
    let halves = [0..128, 128..256].map(|half| first.hash(&half).unwrap());
    assert_eq!(above.body, Hash::parent(halves[0], halves[1]).0.to_vec());

    // Another host signs the same, with the same key.
    let other = app.second_host(ReleaseMonitorSettings::default()).await;
    let note = other.get("/log/checkpoint").send().await.text();
    assert_eq!(Checkpoint::open(&note, &key).unwrap(), newest);
    assert_eq!(note, app.get("/log/checkpoint").send().await.text());
}

#[tokio::test]
async fn tiles_of_a_checkpoint_are_at_every_host_at_once_contract_21() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let other = app.second_host(ReleaseMonitorSettings::default()).await;
    for size in 2..8 {
        app.publish(&parks().with_appended(&format!("P{size},{size},\n"))).await;
        let note = app.get("/log/checkpoint").send().await.text();
        assert!(note.starts_with(&format!("localhost/log\n{size}\n")), "{note}");
        // The other host looks for news every half second.
        for kind in ["0", "entries"] {
            let path = format!("/log/tile/{kind}/000.p/{size}");
            let reply = other.get(&path).send().await;
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(reply.body, app.get(&path).send().await.body, "{path}");
        }
        let beyond = format!("/log/tile/entries/000.p/{}", size + 1);
        assert_eq!(other.get(&beyond).send().await.status, 404, "{beyond}");
    }
}

#[tokio::test]
async fn a_citation_promises_no_proof_that_is_not_there_contract_21() {
    let app = TestApp::start().await;
    let id = app.publish(&parks()).await;
    let page = app.get(&format!("/cite/parks/{id}")).send().await.text();
    let proof = format!("<a href=\"/cite/parks/{id}/proof\">the proof</a>");
    // A version of an older host has an entry with the dataset's next version.
    let promise = format!("Where the log of what was published here has this version, {proof}");
    assert!(page.contains(&promise), "{page}");
}

#[tokio::test]
async fn a_citation_has_a_proof_that_holds_without_the_service_contract_21() {
    let app = TestApp::start().await;
    let now = 1_790_000_000_000;
    app.publish_at(&parks(), Millis(now - 90 * DAY)).await;
    let old = app.publish_at(&harvest(), Millis(now - 80 * DAY)).await;
    let path = format!("/cite/harvest/{old}/proof");
    let reply = app.get(&path).send().await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("content-type").as_str()),
        (200, "application/json")
    );
    let shown = reply.json();
    let text = app.get(&format!("{path}?format=tlog-proof")).send().await;
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(shown["proof"], text.text());
    assert_eq!(
        (shown["index"].as_u64(), shown["snapshot_id"].as_str()),
        (Some(1), Some(old.as_str()))
    );
    let key = VerifierKey::parse(shown["key"].as_str().unwrap()).unwrap();
    let proof = InclusionProof::parse(&text.text()).unwrap();
    assert_eq!(proof.check(&key).unwrap().size, 2);
    assert_eq!(shown["entry"].as_str().unwrap().as_bytes(), proof.entry);
    let entry = LogEntry::from_leaf(shown["entry"].as_str().unwrap()).unwrap();
    assert_eq!((entry.dataset.as_str(), entry.released), ("harvest", Millis(now - 80 * DAY)));
    // Another key, another entry and another place are found.
    let stranger = SigningKey::new("localhost/log", [3; 32]);
    assert_eq!(proof.check(stranger.verifier()), Err(LogError::OtherKey));
    let forged = shown["entry"].as_str().unwrap().replace("\"version\":0", "\"version\":1");
    for altered in [
        InclusionProof { entry: forged.into_bytes(), ..proof.clone() },
        InclusionProof { index: 0, ..proof.clone() },
    ] {
        assert_eq!(altered.check(&key), Err(LogError::NotIncluded));
    }
    // The proof outlives the rows, and the dataset.
    for (rows, at) in [("2030-01-01,c,1,true\n", now - 40 * DAY), ("2030-01-01,d,1,true\n", now)] {
        app.publish_at(&harvest().with_appended(rows), Millis(at)).await;
    }
    let least = Retention { snapshots: 1, hours: 0, history: false };
    app.store.apply_retention(least, false).await.unwrap();
    app.store.retire_dataset(&"harvest".parse().unwrap()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    let later = app.get(&path).send().await;
    assert_eq!(later.status, 200, "{}", later.text());
    assert_eq!(later.json()["entry"], shown["entry"]);
    let later = InclusionProof::parse(later.json()["proof"].as_str().unwrap()).unwrap();
    assert_eq!(later.check(&key).unwrap().size, 4);

    for (path, status) in [
        (format!("{path}?format=word"), 422),
        (format!("/cite/harvest/{}/proof", "0".repeat(32)), 404),
        (format!("/cite/nothing/{old}/proof"), 404),
        ("/cite/harvest/latest/proof".to_owned(), 404),
    ] {
        assert_eq!(app.get(&path).send().await.status, status, "{path}");
    }
}

#[tokio::test]
async fn a_log_is_named_as_the_settings_say_and_goes_with_the_pages_contract_21() {
    let with = |pages: serde_json::Value, url: Option<&str>| {
        let mut settings: ServiceSettings = unbounded();
        settings.pages = serde_json::from_value(pages).unwrap();
        settings.server.public_url = url.map(|url| url.to_owned().try_into().unwrap());
        settings
    };
    let named = serde_json::json!({ "log_origin": "statistics.example/2" });
    let url = Some("https://data.example.org/stats");
    for (settings, origin) in [
        (with(serde_json::json!({}), url), "data.example.org/stats/log"),
        (with(named, url), "statistics.example/2"),
    ] {
        let app = TestApp::with(settings).await;
        let note = app.get("/log/checkpoint").send().await.text();
        assert!(note.starts_with(&format!("{origin}\n0\n")), "{note}");
        assert!(note.contains(&format!("\n— {origin} ")), "{note}");
    }
    let app = TestApp::with(with(serde_json::json!({ "enabled": false }), url)).await;
    assert_eq!(app.get("/log/checkpoint").send().await.status, 404);
}
