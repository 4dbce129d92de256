//! Host bindings of `yearbook:plugin@0.1.0`, one file a released interface version. Generated from
//! `wit/`; arguments are borrowed, so a batch's buffers are copied once, into the guest.

wasmtime::component::bindgen!({
    path: "../../wit/0.1.0",
    world: "encoder-plugin",
    ownership: Borrowing { duplicate_if_necessary: true },
    imports: { default: trappable },
});
