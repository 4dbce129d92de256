//! The list of attacks.

use yearbook_sdk::Error;

mod amplify;
mod chatter;
mod flood;
mod grow;
mod panic;
mod recurse;
mod refuse;
mod spin;

/// Every value of the parameter `attack`.
pub(crate) const NAMES: &[&str] = &[
    "none", "amplify", "chatter", "flood", "grow", "hoard", "note", "panic", "recurse", "refuse",
    "remember", "spin",
];

/// Runs an attack by name; `hoard`, `note` and `remember` are the encoder's own business; `none`
/// and a name that nobody knows do nothing.
pub(crate) fn run(name: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    match name {
        "amplify" => amplify::run(out),
        "chatter" => chatter::run(),
        "flood" => flood::run(out),
        "grow" => grow::run(),
        "panic" => panic::run(),
        "recurse" => recurse::run(),
        "refuse" => return refuse::run(),
        "spin" => spin::run(),
        _ => {}
    }
    Ok(())
}
