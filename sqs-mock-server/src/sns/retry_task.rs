//! The task that makes retries by the clock of the server.

use std::sync::{Arc, Once, Weak};

use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::control::clock::{Clock, Timestamp};

/// What waits for retries.
pub(crate) trait Retries: Send + Sync + 'static {
    fn clock(&self) -> &Clock;

    /// When the next retry is due.
    fn next_due(&self) -> Option<Timestamp>;

    /// Makes retries that are due, all or some of them.
    fn run_due(self: Arc<Self>, now: Timestamp);
}

/// The task. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct RetryTask {
    start: Once,
    changed: watch::Sender<()>,
}

impl RetryTask {
    /// A task that does not run yet.
    pub(crate) fn new() -> Self {
        Self { start: Once::new(), changed: watch::Sender::new(()) }
    }

    /// Starts the task, once. Without a runtime, a later call does.
    pub(crate) fn start<R: Retries>(&self, retries: &Arc<R>) {
        if let Ok(runtime) = Handle::try_current() {
            let task = || drop(runtime.spawn(run(Arc::downgrade(retries), self.changed.subscribe())));
            self.start.call_once(task);
        }
    }

    /// Tells the task of new times.
    pub(crate) fn wake(&self) {
        self.changed.send_replace(());
    }
}

/// Makes the retries that are due, until the server ends.
async fn run<R: Retries>(retries: Weak<R>, mut changed: watch::Receiver<()>) {
    loop {
        changed.mark_unchanged();
        let next = retries.upgrade().map(|retries| (retries.clock().clone(), retries.next_due()));
        let Some((clock, due)) = next else { return };
        let is_due = async {
            match due {
                Some(due) => clock.sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = changed.changed() => if ended.is_err() { return },
            () = is_due => {
                let Some(retries) = retries.upgrade() else { return };
                retries.run_due(clock.now());
                // After a jump of the clock, there may be many.
                tokio::task::yield_now().await;
            }
        }
    }
}
