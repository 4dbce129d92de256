//! Bounds of rows beside the stored file.

use yearbook_scan::row_bounds_are_intact;

use super::*;
use crate::row_bounds::store_missing_bounds;

/// Places in no order of theirs, of three row groups.
fn places() -> Fixture {
    let row = |row: u64| {
        let [x, y] = [row * 7_919 % 360_000, row * 104_729 % 180_000];
        let [x, y] = [x as f64 / 1_000.0 - 180.0, y as f64 / 1_000.0 - 90.0];
        match row % 50 {
            0 => format!("{row},\n"),
            1 => format!("{row},MULTIPOINT EMPTY\n"),
            _ => format!("{row},MULTIPOINT (({x:.3} {y:.3}))\n"),
        }
    };
    let rows: String = (0..300_000).map(row).collect();
    Fixture::new(&["id:integer", "geometry_wkt:string"], &rows)
        .with("/resources/0/schema/primaryKey", json!(["id"]))
}

#[tokio::test]
async fn bounds_of_rows_are_stored_beside_the_file_and_made_of_it_where_they_are_missing_contract_15()
 {
    let fixture = places();
    let snapshot = fixture.publish().await.unwrap().snapshot;
    let path = fixture.stored(&snapshot).with_extension("bounds");
    let published = std::fs::read(&path).unwrap();
    let share = published.len() as f64 / snapshot.file.bytes as f64;
    assert!((0.015..0.035).contains(&share), "{share}");
    let intact =
        async || row_bounds_are_intact(&fixture.files, &fixture.workers, &snapshot).await.unwrap();
    assert!(intact().await);
    let unchanged = fixture.publish_after(Some(&snapshot)).await.unwrap();
    assert!(unchanged.unchanged && unchanged.facts.is_none());

    // Missing and damaged bounds are stored again, by publishing and of the file alone.
    let mut damaged = published.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for content in [None, Some(&damaged)] {
        for of_file in [false, true] {
            match content {
                None => std::fs::remove_file(&path).unwrap(),
                Some(content) => std::fs::write(&path, content).unwrap(),
            }
            assert!(!intact().await);
            if of_file {
                let store = || store_missing_bounds(&fixture.files, &fixture.workers, &snapshot);
                assert!(store().await.unwrap());
                assert!(!store().await.unwrap(), "nothing is left to do");
            } else {
                let again = fixture.publish_after(Some(&snapshot)).await.unwrap();
                assert!(again.unchanged && again.snapshot == snapshot);
            }
            assert!(intact().await);
            assert!(std::fs::read(&path).unwrap() == published, "of the file alone: {of_file}");
        }
    }
}

#[tokio::test]
async fn few_geometries_of_many_rows_are_bounded_too_contract_15() {
    let area = |region: usize| {
        let west = region as f64;
        format!("\"MULTIPOLYGON ((({west} 0, {} 0, {west} 1, {west} 0)))\"", west + 0.5)
    };
    let rows: String = (0..20_000).map(|row| format!("{row},{}\n", area(row % 30))).collect();
    let fixture = Fixture::new(&["id:integer", "geometry_wkt:string"], &rows)
        .with("/resources/0/schema/primaryKey", json!(["id"]));
    let snapshot = fixture.publish().await.unwrap().snapshot;
    assert!(snapshot.columns[1].few_values);
    let path = fixture.stored(&snapshot).with_extension("bounds");
    let published = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(store_missing_bounds(&fixture.files, &fixture.workers, &snapshot).await.unwrap());
    assert!(std::fs::read(&path).unwrap() == published);
}

#[tokio::test]
async fn a_table_without_geometry_has_no_bounds_contract_15() {
    let fixture = Fixture::new(&["id:integer"], "1\n");
    let snapshot = fixture.publish().await.unwrap().snapshot;
    assert!(!fixture.stored(&snapshot).with_extension("bounds").exists());
    assert!(!store_missing_bounds(&fixture.files, &fixture.workers, &snapshot).await.unwrap());
    let again = fixture.publish_after(Some(&snapshot)).await.unwrap();
    assert!(again.unchanged && again.facts.is_none());
}
