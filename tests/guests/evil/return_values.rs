//! Return values of guests, bit by bit: descriptions, parts, notes and files whose bytes are
//! damaged. The host refuses them in one line or goes on; it never panics, and keeps no instance.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use yearbook_sandbox::{Limits, Plugin, Sandbox};
use yearbook_tests::fuzz::FuzzTargetSpec;
use yearbook_workers::Workers;

use crate::attack_arena::sandbox_limits;
use crate::exclusive;
use crate::guest::{GeneratorGuest, Guest, Image, ImageParameter, bare_request, segment};

const GUEST: FuzzTargetSpec = FuzzTargetSpec {
    name: "guest",
    inputs: 300,
    words: &["\u{1}", "\u{10}", "@", "\0\0\0\0", "\u{8}\0\0\0"],
};
const PROJECT: FuzzTargetSpec = FuzzTargetSpec {
    name: "project",
    inputs: 300,
    words: &["\u{1}", "\u{10}", "@", "\0\0\0\0", "\u{8}\0\0\0"],
};

/// Address of the answers of head, part and tail.
const ANSWERS: usize = 1536;

/// No cache: nobody asks for these again.
fn sandbox() -> (Arc<Sandbox>, usize) {
    let limits = Limits { cpu_ms_per_call: 30, ..sandbox_limits() };
    let config =
        yearbook_sandbox::SandboxConfig { limits, ..yearbook_sandbox::SandboxConfig::default() };
    (Sandbox::new(&config, Workers::new(1)).unwrap(), limits.instances as usize)
}

/// Loads the component and lets `run` have what came of it.
fn load_and_run(sandbox: &Arc<Sandbox>, free: usize, component: &[u8], run: impl FnOnce(&Plugin)) {
    match sandbox.load(component) {
        Ok(plugin) => run(&plugin),
        Err(rejected) => one_line(&rejected.to_string()),
    }
    assert_eq!(sandbox.free_instances(), free, "an instance is kept");
}

fn one_line(text: &str) {
    assert!(!text.is_empty() && text.len() < 2_000 && !text.contains(char::is_control), "{text:?}");
}

#[test]
fn what_an_encoder_returns_is_checked_or_refused_in_one_line() {
    let _alone = exclusive();
    let (sandbox, free) = sandbox();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let batch = RecordBatch::try_from_iter_with_nullable([("n", numbers, true)]).unwrap();
    let mut loaded = 0;
    GUEST.run(|damage| {
        let (of_description, of_answers) = damage.split_at(damage.len().min(128));
        // As the text of a guest has them: a discriminant, a list, and for a part no splices and
        // its note.
        let mut answers = Vec::new();
        for (address, bytes) in [(512, 5), (528, 5), (544, 4)] {
            for number in [0, address, bytes, 0, 0, 512, 3] {
                answers.extend(u32::to_le_bytes(number));
            }
        }
        answers.iter_mut().zip(of_answers).for_each(|(byte, damage)| *byte ^= damage);
        let at = |answer: usize| format!("(i32.const {})", ANSWERS + 28 * answer);
        let guest = Guest::named("damaged")
            .with_image(|says| {
                says.parameters = vec![ImageParameter {
                    name: "style",
                    kind: 0,
                    default: "a",
                    allowed: &["a", "b"],
                }];
                says.damage = of_description.to_vec();
            })
            .with(&segment(ANSWERS, &answers))
            .does("head", &at(0))
            .does("part", &at(1))
            .does("tail", &at(2));
        load_and_run(&sandbox, free, &guest.build(), |plugin| {
            loaded += 1;
            let Plugin::Encoder(encoder) = plugin else { panic!("it is an encoder") };
            let result = encoder.trial(&batch.schema(), &[], &[batch.clone(), batch.clone()], true);
            if let Err(failed) = result {
                one_line(&failed.to_string());
            }
        });
    });
    assert!(loaded > 0, "no guest was loaded, so nothing that one returns was tried");
    const { assert!(ANSWERS + 60 < Image::EXTRA) }
}

#[test]
fn what_an_encoder_says_by_reference_is_checked_or_refused_in_one_line() {
    let _alone = exclusive();
    let (sandbox, free) = sandbox();
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("north"), None, Some("south")]));
    let batch = RecordBatch::try_from_iter_with_nullable([("t", texts, true)]).unwrap();
    let extra = u32::try_from(Image::EXTRA).unwrap();
    let mut loaded = 0;
    GUEST.run(|damage| {
        // A view: offsets of text with a mean of one byte. Two splices of the values. A part that
        // has both.
        let view = [0, 1, 1, 0];
        let splices = [0, 2, 0, 5, 5, 2, 5, 5];
        let part = [0, 528, 5, extra + 16, 2, 512, 3];
        let numbers = view.iter().chain(&splices).chain(&part);
        let mut data: Vec<u8> = numbers.flat_map(|number: &u32| number.to_le_bytes()).collect();
        data.iter_mut().zip(damage).for_each(|(byte, damage)| *byte ^= damage);
        let guest = Guest::with_data("damaged", data)
            .does("views", &format!("(call $views (i32.const {extra}) (i32.const 1))"))
            .does("part", &format!("(i32.const {})", extra + 48));
        load_and_run(&sandbox, free, &guest.build(), |plugin| {
            loaded += 1;
            let Plugin::Encoder(encoder) = plugin else { panic!("it is an encoder") };
            let result = encoder.trial(&batch.schema(), &[], &[batch.clone(), batch.clone()], true);
            match result {
                Ok(response) if damage.iter().all(|byte| *byte == 0) => {
                    assert_eq!(response.parts[0], b"northrows south");
                }
                Ok(_) => {}
                Err(failed) => one_line(&failed.to_string()),
            }
        });
    });
    assert!(loaded > 0, "no guest was loaded, so nothing that one says was tried");
}

#[test]
fn what_a_generator_returns_is_checked_or_refused_in_one_line() {
    let _alone = exclusive();
    let (sandbox, free) = sandbox();
    let mut loaded = 0;
    PROJECT.run(|damage| {
        let tool = GeneratorGuest::named("damaged")
            .typed(b"folder/settings.yml", b"application/yaml", b"a: 1")
            .damaged(damage);
        load_and_run(&sandbox, free, &tool.build(), |plugin| {
            loaded += 1;
            let Plugin::Generator(generator) = plugin else { panic!("it is a generator") };
            if let Err(failed) = generator.trial(&bare_request()) {
                one_line(&failed.to_string());
            }
        });
    });
    assert!(loaded > 0, "no generator was loaded, so nothing that one returns was tried");
}
