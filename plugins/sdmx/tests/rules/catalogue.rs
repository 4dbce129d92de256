//! Answers of the adapter over the sample catalogue, or one like it.

use yearbook_sdk::adapter::{
    Column, Dataset, Document, Example, Fact, Question, Reply, Request, Rows,
};
use yearbook_sdk::testing::adapting;
use yearbook_sdk::testing::sample::SampleCatalogue;
use yearbook_sdmx::Sdmx;

/// The adapter's answer, and the questions that it asked before.
pub(crate) fn reply(request: &Request) -> (Reply, Vec<Question>) {
    reply_over(request, |_| {})
}

/// The same over other datasets.
pub(crate) fn reply_over(request: &Request, change: impl Fn(&mut Fact)) -> (Reply, Vec<Question>) {
    let (catalogue, mut facts, mut asked) = (SampleCatalogue::new(), Vec::new(), Vec::new());
    for _ in 0..4 {
        match adapting::call::<Sdmx>(request, facts.clone()) {
            Reply::Ask(questions) => {
                let told = questions.iter().map(|question| answer(&catalogue, question));
                let first = facts.len();
                facts.extend(told);
                facts[first..].iter_mut().for_each(&change);
                asked.extend(questions);
            }
            reply => return (reply, asked),
        }
    }
    panic!("more than four calls");
}

/// The sample catalogue has no format that writes SDMX-ML; a host has.
pub(crate) fn answer(catalogue: &SampleCatalogue, question: &Question) -> Fact {
    match (question, catalogue.answer(question)) {
        (Question::Formats, Fact::Formats(mut formats)) => {
            let mut format = formats[0].clone();
            format.name = "sdmx-ml".to_owned();
            formats.push(format);
            Fact::Formats(formats)
        }
        (_, fact) => fact,
    }
}

/// The selection of an answer in a media type.
pub(crate) fn rows_as(address: &str, accept: &str) -> Rows {
    let request = Example::get(address, 0).header("accept", accept).request;
    match reply(&request).0 {
        Reply::Rows(rows) => rows,
        Reply::Document(document) => panic!("{address}: {}", text(&document)),
        Reply::Ask(_) => unreachable!(),
    }
}

/// The same in any.
pub(crate) fn rows(address: &str) -> Rows {
    rows_as(address, "*/*")
}

/// The document of an answer.
pub(crate) fn document(address: &str) -> Document {
    match reply(&Example::get(address, 0).request).0 {
        Reply::Document(document) => document,
        _ => panic!("{address} has rows"),
    }
}

/// Its text.
pub(crate) fn text(document: &Document) -> String {
    String::from_utf8(document.body.clone()).unwrap()
}

/// An option of a format.
pub(crate) fn option<'a>(rows: &'a Rows, name: &str) -> &'a str {
    &rows.options.iter().find(|(option, _)| option == name).unwrap().1
}

/// Changes the dataset `harvest_long` where it is told.
pub(crate) fn harvest(change: impl Fn(&mut Dataset)) -> impl Fn(&mut Fact) {
    move |fact| match fact {
        Fact::Dataset(dataset) => change(dataset),
        Fact::Datasets((datasets, ..)) => {
            datasets.iter_mut().filter(|one| one.name == "harvest_long").for_each(&change);
        }
        _ => {}
    }
}

/// The selection of an answer over another dataset `harvest_long`.
pub(crate) fn selected(address: &str, change: impl Fn(&mut Dataset)) -> Rows {
    match reply_over(&Example::get(address, 0).request, harvest(change)).0 {
        Reply::Rows(rows) => rows,
        _ => panic!("{address} has no rows"),
    }
}

/// Adds columns to the key.
pub(crate) fn longer_key(more: usize) -> impl Fn(&mut Dataset) {
    move |dataset| {
        let region = dataset.columns.iter().find(|column| column.name == "region").unwrap().clone();
        for at in 0..more {
            let name = format!("part_{at}");
            dataset.primary_key.push(name.clone());
            dataset.columns.push(Column { name, ..region.clone() });
        }
    }
}
