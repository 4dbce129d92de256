//! Host bindings of `yearbook:plugin@1.0.0`: the encoder world and what both worlds share here, the
//! generator world in a file of its own. Generated from `wit/`; arguments are borrowed, so a
//! batch's buffers are copied once, into the guest.

pub(crate) mod generator;

wasmtime::component::bindgen!({
    path: "../../wit/1.0.0",
    world: "encoder-plugin",
    ownership: Borrowing { duplicate_if_necessary: true },
    imports: { default: trappable },
});
