//! Hands arguments and environment to [`yearbook_cli::run`]. Owns the settings of the allocator.

use std::process::ExitCode;

use yearbook_cli::MemoryReturn;

/// Gives memory back after a crowd has left, which glibc's arenas do not: 349 MB instead of 783 MB
/// resident ten seconds after 200 large exports, at the same speed or better. It asks for no huge
/// pages, of which a few used bytes hold two mebibytes (decision 0307).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of mimalloc's option `purge_delay`, which the bindings have no name for.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Milliseconds after which freed memory goes back to the system: longer than the pauses between
/// the batches of a response, shorter than a table takes. The allocator's own second lets a large
/// export keep what the one before it has freed (decision 0307).
const PURGE_DELAY_MILLISECONDS: core::ffi::c_long = 100;

#[expect(clippy::disallowed_methods, reason = "everything else takes what is read here")]
fn main() -> ExitCode {
    set_memory_return(MemoryReturn::Soon);
    let variables = std::env::vars_os().map(|(name, value)| {
        (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
    });
    yearbook_cli::run(std::env::args_os().collect(), variables.collect(), set_memory_return)
}

/// Sets the allocator's delay, unless its own variable `MIMALLOC_PURGE_DELAY` does.
fn set_memory_return(when: MemoryReturn) {
    let delay = match when {
        MemoryReturn::AtOnce => 0,
        MemoryReturn::Soon => PURGE_DELAY_MILLISECONDS,
    };
    #[expect(unsafe_code, reason = "the allocator has no safe interface for its options")]
    // SAFETY: it stores a number in the allocator's table of options, which every version bounds;
    // whoever frees memory meanwhile reads either number.
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, delay);
    }
}

#[cfg(test)]
mod tests {
    use yearbook_cli::MemoryReturn;

    #[test]
    #[expect(unsafe_code, reason = "the allocator has no safe interface for its options")]
    fn the_number_of_the_option_is_that_of_the_purge_delay() {
        // SAFETY: it reads a number from the allocator's table of options.
        let delay = || unsafe { libmimalloc_sys::mi_option_get(super::PURGE_DELAY) };
        // The only option with this default: a version that counts otherwise fails here.
        assert_eq!(delay(), 1000);
        for (when, expected) in
            [(MemoryReturn::Soon, super::PURGE_DELAY_MILLISECONDS), (MemoryReturn::AtOnce, 0)]
        {
            super::set_memory_return(when);
            assert_eq!(delay(), expected);
        }
    }
}
