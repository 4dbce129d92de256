//! `docs/attacks.md` says what the list says.

use std::collections::HashSet;
use std::fmt::Write;

use yearbook_tests::components::root;

use crate::list::readers::{ReaderAttack, ReadingEnd, reader_attacks};
use crate::list::transforms::{ChainEnd, TransformAttack, transform_attacks};
use crate::list::{AttackCase, ExpectedEnd, attacks};

const BEGIN: &str = "<!-- the list, as tests/guests/evil/list.rs has it -->\n";

/// The list as a table.
fn table(attacks: &[AttackCase]) -> String {
    let mut text = "| Attack | What it does | The client gets | The operator reads | Caught by |\n|---|---|---|---|---|\n".to_owned();
    for attack in attacks {
        let (client, log) = match &attack.ends {
            ExpectedEnd::Whole(body) => (format!("200, `{body}`"), String::new()),
            ExpectedEnd::Long(bytes) => (format!("200, {bytes} bytes"), String::new()),
            ExpectedEnd::Broken(reason) => ("500".to_owned(), code(reason)),
            ExpectedEnd::Cut(reason) => ("a cut body".to_owned(), code(reason)),
            ExpectedEnd::Declined(sentence) => (format!("422, {}", code(sentence)), String::new()),
            ExpectedEnd::Rejected(reason) => ("no such format".to_owned(), code(reason)),
        };
        let said = attack.said.last().map(|line| code(line)).unwrap_or_default();
        let found = attack
            .found
            .map(|found| format!("`plugin check`: {}", code(found)))
            .unwrap_or_default();
        let log: Vec<&str> =
            [log.as_str(), &said, &found].into_iter().filter(|part| !part.is_empty()).collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {client} | {} | {} |",
            attack.name,
            attack.does.replace('|', "\\|"),
            log.join("; "),
            attack.caught
        );
    }
    text
}

/// The list of readers as a chapter of its own.
fn reader_table(attacks: &[ReaderAttack]) -> String {
    let mut text = "\n## The attacks of readers\n".to_owned();
    text.push_str(
        "| Attack | What it does | The publisher reads | Caught by |\n|---|---|---|---|\n",
    );
    for ReaderAttack { name, does, ends, caught, .. } in attacks {
        let read = match ends {
            ReadingEnd::Published(rows, unit) => {
                let unit = unit.as_ref().map(|unit| format!(", unit {}", code(unit)));
                format!("published, {rows} row{}", unit.unwrap_or_default())
            }
            ReadingEnd::Refused(reason) | ReadingEnd::Rejected(reason) => code(reason),
        };
        let _ = writeln!(text, "| `{name}` | {does} | {read} | {caught} |");
    }
    text
}

/// The list of transforms as a chapter of its own.
fn transform_table(attacks: &[TransformAttack]) -> String {
    let mut text = "\n## The attacks of transforms\n".to_owned();
    text.push_str(
        "| Attack | What it does | The operator reads | Caught by |\n|---|---|---|---|\n",
    );
    for TransformAttack { name, does, ends, caught, .. } in attacks {
        let read = match ends {
            ChainEnd::Rows(rows, unit) => {
                let unit = unit.as_ref().map(|unit| format!(", unit {}", code(unit)));
                format!("{rows} rows{}", unit.unwrap_or_default())
            }
            ChainEnd::Failed(reason) | ChainEnd::Rejected(reason) => code(reason),
        };
        let _ = writeln!(text, "| `{name}` | {does} | {read} | {caught} |");
    }
    text
}

/// A guest's text in a cell, cut.
fn code(text: &str) -> String {
    let mut short: String = text.chars().take(200).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("`` {} ``", short.replace('|', "\\|"))
}

#[test]
fn the_document_lists_every_attack_with_what_becomes_of_it() {
    let attacks = attacks();
    let readers = reader_attacks();
    let transforms = transform_attacks();
    let all: Vec<&str> = attacks
        .iter()
        .map(|attack| attack.name.as_str())
        .chain(readers.iter().map(|attack| attack.name.as_str()))
        .chain(transforms.iter().map(|attack| attack.name.as_str()))
        .collect();
    let names: HashSet<&str> = all.iter().copied().collect();
    assert!(
        names.len() == all.len()
            && [attacks.len(), readers.len(), transforms.len()].iter().all(|many| *many >= 40),
        "{} names of {} attacks, {} of readers and {} of transforms",
        names.len(),
        attacks.len(),
        readers.len(),
        transforms.len()
    );
    let path = root().join("docs/attacks.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, listed) = text.split_once(BEGIN).expect("the document has a list");
    let expected = table(&attacks) + &reader_table(&readers) + &transform_table(&transforms);
    if std::env::var_os("UPDATE_ATTACKS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{expected}")).unwrap();
    } else {
        assert!(
            listed == expected,
            "docs/attacks.md is not the list; UPDATE_ATTACKS=1 writes it anew"
        );
    }
}
