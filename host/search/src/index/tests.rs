//! Rules of the search: the hits, their order, and the counts of the facets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalog;
mod judged;

use crate::{
    ColumnText, DatasetShape, Facet, FacetChoices, FacetValue, MatchKind, PAGE_SIZE,
    SearchDocument, SearchIndex, SearchPage, SearchQuery,
};

/// A document with one text in one place.
fn document(name: &str, place: &str, text: &str) -> SearchDocument {
    let mut document = SearchDocument { name: name.to_owned(), ..SearchDocument::default() };
    let text = text.to_owned();
    match place {
        "title" => document.title = Some(text),
        "column" => document.columns = vec![ColumnText { name: text, description: None }],
        "description" => document.description = Some(text),
        "agency" => document.agency = text,
        "topic" => document.keywords = vec![text],
        _ => {}
    }
    document
}

fn build(documents: &[SearchDocument]) -> SearchIndex {
    SearchIndex::build(documents.to_vec()).unwrap()
}

fn ask(index: &SearchIndex, text: &str) -> SearchPage {
    index.search(&SearchQuery { text: text.to_owned(), ..SearchQuery::default() }).unwrap()
}

fn names(page: &SearchPage) -> Vec<&str> {
    page.hits.iter().map(|hit| hit.name.as_str()).collect()
}

/// A small catalog, in no order.
fn small() -> SearchIndex {
    build(&[
        document("in_description", "description", "Earthquakes of the last week"),
        document("in_columns", "column", "earthquakes"),
        document("in_title", "title", "Earthquakes"),
        document("earthquakes", "", ""),
        document("by_agency", "agency", "Institute of Earthquakes"),
        document("by_topic", "topic", "earthquakes"),
        document("land", "title", "Māori land, 2020"),
        document("houses", "title", "Average price of housing"),
    ])
}

#[test]
fn matches_rank_by_name_title_columns_description_contract_9() {
    let index = small();
    let page = ask(&index, "earthquakes");
    let found = names(&page);
    let rank = |name: &str| found.iter().position(|found| *found == name).unwrap();
    assert_eq!(page.total, 6);
    assert!(rank("earthquakes") < rank("in_title"), "{found:?}");
    assert!(rank("in_title") < rank("in_columns"), "{found:?}");
    assert!(rank("in_columns") < rank("in_description"), "{found:?}");
    assert!(rank("by_agency") < rank("in_description"), "{found:?}");
}

#[test]
fn words_match_folded_stemmed_begun_and_misspelt_contract_9() {
    let index = small();
    let check = |text: &str, expected: &str, kind: MatchKind| {
        let page = ask(&index, text);
        assert_eq!(names(&page).first(), Some(&expected), "{text}");
        assert_eq!(page.match_kind, kind, "{text}");
    };
    use MatchKind::{AllWords, Corrected, SomeWords};
    for text in ["Māori", "maori", "MAORI", "ma\u{304}ori", "maori land 2020"] {
        check(text, "land", AllWords);
    }
    for text in ["houses", "prices", "averages", "the price of housing"] {
        check(text, "houses", AllWords);
    }
    // No dataset has the weak words, and nothing stands in for them.
    for text in ["about maori", "how much land", "statistics by maori land"] {
        check(text, "land", AllWords);
    }
    for text in ["eart", "earthqua"] {
        check(text, "earthquakes", AllWords);
    }
    for text in ["earthqakes", "aerthquakes", "earthquakess", "eartkquakes"] {
        check(text, "earthquakes", Corrected);
    }
    // Each word is known, but no dataset has both as they are.
    let slip = build(&[document("form", "", ""), document("b", "title", "Farm prices")]);
    let page = ask(&slip, "form prices");
    assert_eq!((names(&page), page.match_kind), (vec!["b"], Corrected));
    check("maori zebra", "land", SomeWords);
}

#[test]
fn a_whole_name_finds_its_dataset_first() {
    let index = build(&[
        document("cpi", "title", "Prices"),
        document("cpi_by_region", "title", "CPI by region, CPI, CPI"),
        document("cpi_by_region_long", "title", "CPI by region"),
    ]);
    for text in ["cpi_by_region", "cpi by region", "CPI_BY_REGION"] {
        assert_eq!(names(&ask(&index, text))[0], "cpi_by_region", "{text}");
    }
    assert_eq!(names(&ask(&index, "cpi"))[0], "cpi");
}

#[test]
fn equals_are_sorted_by_name_contract_9() {
    let mut documents: Vec<_> =
        (0..60).map(|number| document(&format!("d{number:02}"), "title", "Rent")).collect();
    let expected: Vec<String> = documents.iter().map(|document| document.name.clone()).collect();
    documents.reverse();
    documents.swap(3, 40);
    let index = build(&documents);
    for text in ["rent", ""] {
        let mut found = Vec::new();
        for page in 1..=3 {
            let query = SearchQuery { text: text.to_owned(), page, ..SearchQuery::default() };
            let page = index.search(&query).unwrap();
            assert_eq!((page.total, page.pages, page.hits.len()), (60, 3, PAGE_SIZE));
            found.extend(page.hits.into_iter().map(|hit| hit.name));
        }
        assert_eq!(found, expected, "{text:?}");
    }
    documents.rotate_left(17);
    assert_eq!(build(&documents).version(), index.version(), "the order of documents is no matter");
}

#[test]
fn pages_beyond_the_last_are_the_last() {
    let index = small();
    for (page, expected) in [(0, 1), (1, 1), (2, 1), (usize::MAX, 1)] {
        let query = SearchQuery { page, ..SearchQuery::default() };
        let found = index.search(&query).unwrap();
        assert_eq!((found.page, found.pages, found.hits.len()), (expected, 1, 8), "{page}");
    }
    let empty = ask(&build(&[]), "anything");
    assert_eq!((empty.total, empty.page, empty.pages), (0, 1, 0));
    assert!(names(&ask(&build(&[]), "")).is_empty());
}

#[test]
fn hostile_texts_are_words_and_nothing_else() {
    let index = small();
    let long = "maori ".repeat(10_000);
    for (text, expected) in [
        ("body:maori", 1),
        ("\"maori land\"", 1),
        ("+maori -land", 1),
        ("maori AND (land", 1),
        ("maori*", 1),
        ("/maori/", 1),
        ("maori^5~2", 1),
        ("maori'; DROP TABLE snapshots;--", 1),
        ("<script>maori</script>", 1),
        (long.as_str(), 1),
        ("?!*~^()[]{}\"", 0),
        ("\0\u{202e}\u{feff}", 0),
        ("💩", 0),
    ] {
        let page = ask(&index, text);
        assert_eq!(page.total, expected, "{}", &text[..text.len().min(40)]);
    }
    let thousand: String = (0..1000).map(|number| format!("earth{number} ")).collect();
    ask(&index, &thousand);
    ask(&index, &"a".repeat(100_000));
}

fn faceted() -> SearchIndex {
    let document =
        |name: &str, topics: &[&str], agency: &str, shapes: &[DatasetShape]| SearchDocument {
            title: Some("Rent".to_owned()),
            keywords: topics.iter().map(|topic| (*topic).to_owned()).collect(),
            agency: agency.to_owned(),
            licence: "CC-BY-4.0".to_owned(),
            shapes: shapes.to_vec(),
            cadence: (name != "d").then(|| "weekly".to_owned()),
            ..SearchDocument { name: name.to_owned(), ..SearchDocument::default() }
        };
    use DatasetShape::{Series, Spatial, Table};
    build(&[
        document("a", &["prices", "housing", "prices"], "Stats NZ", &[Series]),
        document("b", &["prices"], "Stats NZ", &[Series, Spatial]),
        document("c", &["housing"], "LINZ", &[Spatial]),
        document("d", &[], "LINZ", &[Table]),
    ])
}

/// Values and counts of a facet, as text.
fn counts(page: &SearchPage, facet: Facet) -> String {
    let counts = page.facets.iter().find(|counts| counts.facet == facet).unwrap();
    let value = |value: &FacetValue| {
        format!("{}{} {}", if value.chosen { "*" } else { "" }, value.value, value.count)
    };
    counts.values.iter().map(value).collect::<Vec<_>>().join(", ")
}

#[test]
fn counts_ignore_the_choice_of_their_own_facet_contract_9() {
    let index = faceted();
    let page = ask(&index, "rent");
    assert_eq!(counts(&page, Facet::Topic), "housing 2, prices 2");
    assert_eq!(counts(&page, Facet::Shape), "series 2, spatial 2, table 1");
    assert_eq!(counts(&page, Facet::Cadence), "weekly 3");
    assert_eq!(counts(&page, Facet::Licence), "CC-BY-4.0 4");

    let choose = |choices: FacetChoices| {
        index
            .search(&SearchQuery { text: "rent".to_owned(), choices, ..SearchQuery::default() })
            .unwrap()
    };
    let page = choose(FacetChoices::default().with(Facet::Topic, "prices"));
    assert_eq!(names(&page), ["a", "b"]);
    assert_eq!(counts(&page, Facet::Topic), "housing 2, *prices 2");
    assert_eq!(counts(&page, Facet::Agency), "Stats NZ 2");

    let both = FacetChoices::default().with(Facet::Topic, "prices").with(Facet::Shape, "spatial");
    let page = choose(both);
    assert_eq!(names(&page), ["b"]);
    assert_eq!(counts(&page, Facet::Topic), "housing 1, *prices 1");
    assert_eq!(counts(&page, Facet::Shape), "series 2, *spatial 1");

    let page = choose(FacetChoices::default().with(Facet::Agency, "Nobody"));
    assert_eq!((page.total, page.pages), (0, 0));
    assert_eq!(counts(&page, Facet::Agency), "LINZ 2, Stats NZ 2, *Nobody 0");
    assert_eq!(counts(&page, Facet::Topic), "");
}

#[test]
fn long_lists_of_values_are_cut_but_keep_the_chosen_one() {
    let documents: Vec<SearchDocument> = (0..80)
        .map(|number| document(&format!("d{number}"), "topic", &format!("topic {number:02}")))
        .collect();
    let index = build(&documents);
    let choices = FacetChoices::default().with(Facet::Topic, "topic 79");
    let page = index.search(&SearchQuery { choices, ..SearchQuery::default() }).unwrap();
    let topics = &page.facets[0];
    assert_eq!((topics.values.len(), topics.values_left_out), (51, 29));
    assert!(topics.values.last().is_some_and(|value| value.chosen && value.count == 1));
    assert_eq!(index.topics().len(), 80);
}

#[test]
fn the_version_moves_with_every_indexed_text() {
    let plain = || SearchDocument { name: "a".to_owned(), ..SearchDocument::default() };
    let mut versions = vec![build(&[plain()]).version().to_owned()];
    for change in [
        SearchDocument { title: Some(String::new()), ..plain() },
        SearchDocument { title: Some("t".to_owned()), ..plain() },
        SearchDocument { description: Some("t".to_owned()), ..plain() },
        SearchDocument { agency: "t".to_owned(), ..plain() },
        SearchDocument { licence: "t".to_owned(), ..plain() },
        SearchDocument { keywords: vec!["t".to_owned()], ..plain() },
        SearchDocument { other_titles: vec!["t".to_owned()], ..plain() },
        SearchDocument { other_prose: vec!["t".to_owned()], ..plain() },
        SearchDocument { cadence: Some("t".to_owned()), ..plain() },
        SearchDocument { shapes: vec![DatasetShape::Table], ..plain() },
        SearchDocument {
            columns: vec![ColumnText { name: "t".to_owned(), description: None }],
            ..plain()
        },
    ] {
        let version = build(&[change]).version().to_owned();
        assert!(!versions.contains(&version));
        versions.push(version);
    }
}

#[test]
fn a_word_that_many_datasets_have_gives_the_same_pages_from_memory_contract_9() {
    let documents: Vec<SearchDocument> = (0..1000)
        .map(|number| {
            let mut document = document(&format!("table_{number:04}"), "title", "Prices of houses");
            document.keywords = vec![format!("topic {}", number % 7)];
            if number % 50 == 3 {
                document.description = Some("rents and prices".to_owned());
            }
            document
        })
        .collect();
    let index = build(&documents);
    for text in
        ["prices", "price houses", "houses rents", "table_0517 prices", "pricse", "the rents"]
    {
        let first = ask(&index, text);
        assert_eq!(ask(&index, text), first, "{text}");
        assert_eq!(ask(&build(&documents), text), first, "{text}");
    }
    let (all, rents) = (ask(&index, "prices"), ask(&index, "prices rents"));
    assert_eq!((all.total, rents.total), (1000, 20));
    assert_eq!(all.facets, ask(&index, "").facets, "every dataset is a hit");
    let topics = |page: &SearchPage| -> usize {
        let counts = page.facets.iter().find(|counts| counts.facet == Facet::Topic).unwrap();
        counts.values.iter().map(|value| value.count).sum()
    };
    assert_eq!((topics(&all), topics(&rents)), (1000, 20));
}
