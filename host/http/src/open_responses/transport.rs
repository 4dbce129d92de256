//! The task that asks a body for its bytes: that of an HTTP/1 connection, or of one stream of an
//! HTTP/2 connection. Ending it drops the connection, or resets the stream alone, whatever it waits
//! for.

use std::sync::{Arc, OnceLock};

use hyper::rt::Executor;
use tokio::task::{AbortHandle, JoinHandle};

tokio::task_local! {
    static TRANSPORT: TransportTask;
}

/// The task that a response is sent by.
#[derive(Clone, Debug, Default)]
pub(super) struct TransportTask(Arc<OnceLock<AbortHandle>>);

/// Spawns `task`, which sends responses.
pub fn spawn_transport<F>(task: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let transport = TransportTask::default();
    let spawned = tokio::spawn(TRANSPORT.scope(transport.clone(), task));
    // Empty until here: a body is never cut as soon as its task begins.
    let _ = transport.0.set(spawned.abort_handle());
    spawned
}

/// Has each stream of an HTTP/2 connection sent by a task that can be ended.
#[derive(Clone, Copy, Debug)]
pub struct TransportExecutor;

impl<F> Executor<F> for TransportExecutor
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, task: F) {
        spawn_transport(task);
    }
}

impl TransportTask {
    /// The one of the present task; none where the router is called without a socket.
    pub(super) fn current() -> Option<Self> {
        TRANSPORT.try_with(Clone::clone).ok()
    }

    /// Ends it.
    pub(super) fn end(&self) {
        if let Some(task) = self.0.get() {
            task.abort();
        }
    }
}
