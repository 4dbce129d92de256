//! Stacks of threads. What runs a guest must have the guest's stack and room for the host besides:
//! beyond the end of a thread's stack the process is aborted, whatever the guest's own limit says.

use std::cell::Cell;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Stack of a worker, bytes, unless more is asked for.
pub const STACK_BYTES: usize = 2 << 20;

thread_local! {
    /// Stack that this thread was started with, bytes; 0: somebody else started it.
    static STACK: Cell<usize> = const { Cell::new(0) };
}

/// Starts a thread with `bytes` of stack, on which [`with_stack`] needs no other up to so many.
///
/// # Errors
/// Fails when the operating system refuses the thread.
pub fn spawn(
    name: &str,
    bytes: usize,
    job: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let marked = move || {
        STACK.set(bytes);
        job();
    };
    Builder::new().name(name.to_owned()).stack_size(bytes).spawn(marked)
}

/// Runs `job` with a stack of at least `bytes`: on this thread where [`spawn`] started it with as
/// much, otherwise on one that ends with the job. Blocks until the job is done; a panic of the job
/// goes on here.
///
/// # Panics
/// Panics when the operating system refuses the thread.
#[expect(
    clippy::expect_used,
    reason = "only the slow paths start a thread here: without one there is nothing to fall back to"
)]
pub fn with_stack<T: Send>(bytes: usize, job: impl FnOnce() -> T + Send) -> T {
    if STACK.get() >= bytes {
        return job();
    }
    let marked = move || {
        STACK.set(bytes);
        job()
    };
    std::thread::scope(|scope| {
        let thread =
            Builder::new().name("guest".to_owned()).stack_size(bytes).spawn_scoped(scope, marked);
        let done = thread.expect("the operating system gives a thread").join();
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::hint::black_box;

    use super::*;

    /// Calls itself until so many bytes of stack are used, counted from the address `from`.
    fn descend(from: usize, bytes: usize) -> usize {
        let frame = black_box([0_u8; 4096]);
        let used = from.abs_diff(frame.as_ptr().addr());
        if used >= bytes { used } else { black_box(descend(from, bytes)) }
    }

    #[test]
    fn a_job_has_the_stack_that_it_asks_for() {
        // Four times what threads of tests have, which would abort.
        let bytes = 8 << 20;
        let used = with_stack(bytes, || {
            let here = 0_u8;
            descend(std::ptr::from_ref(&here).addr(), bytes * 3 / 4)
        });
        assert!(used >= bytes * 3 / 4);
    }

    #[test]
    fn a_thread_that_has_enough_is_used_and_another_is_not() {
        let here = || std::thread::current().id();
        let (large, larger) = (3 << 20, 4 << 20);
        let outside = here();
        let outer = with_stack(large, || {
            let outer = here();
            assert_eq!(with_stack(large, here), outer);
            assert_ne!(with_stack(larger, here), outer);
            outer
        });
        assert_ne!(outer, outside);
        let spawned = spawn("large", large, move || assert_eq!(with_stack(large, here), here()));
        spawned.unwrap().join().unwrap();
    }

    #[test]
    fn a_panic_goes_on_where_the_job_was_asked_for() {
        let panicked =
            std::panic::catch_unwind(|| with_stack(3 << 20, || panic!("expected by this test")));
        assert!(
            panicked
                .unwrap_err()
                .downcast_ref::<&str>()
                .is_some_and(|message| message.contains("expected"))
        );
    }
}
