//! A panic, as a bug would.

#[expect(clippy::panic, reason = "this is the attack")]
pub(crate) fn run() {
    panic!("on purpose");
}
