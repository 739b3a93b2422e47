//! Delivers events in the background.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Epoch, Targets};
use crate::s3::notifications::Target;
use crate::s3::request_context::RequestContext;

/// How long an event waits for the response of its request.
const ANSWER: Duration = Duration::from_secs(2);

/// An event that is not delivered yet.
#[derive(Debug)]
pub(super) struct Queued {
    /// Of the request.
    pub(super) epoch: u64,
    pub(super) bucket: String,
    pub(super) target: Target,
    pub(super) message: String,
    pub(super) request: Arc<RequestContext>,
}

/// Delivers the events of an outbox, one after the other.
#[derive(Debug)]
pub(in crate::s3) struct Worker {
    queue: mpsc::Receiver<Queued>,
    epoch: Arc<Epoch>,
    targets: Arc<Targets>,
}

/// A started worker. On drop, it drops the events that are not delivered yet.
#[derive(Debug)]
pub(in crate::s3) struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Worker {
    pub(super) fn new(queue: mpsc::Receiver<Queued>, epoch: Arc<Epoch>, targets: Arc<Targets>) -> Self {
        Self { queue, epoch, targets }
    }

    /// Starts to deliver.
    pub(in crate::s3) fn start(self) -> Running {
        let (stop, stopped) = watch::channel(false);
        Running { stop, task: tokio::spawn(self.run(stopped)) }
    }

    /// Delivers until it is stopped and no event is left.
    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        loop {
            let queued = tokio::select! {
                queued = self.queue.recv() => queued,
                _ = stopped.changed(), if !self.queue.is_closed() => {
                    self.queue.close();
                    continue;
                }
            };
            let Some(queued) = queued else { break };
            // Bounded, since later events wait too: a client may send its body slowly after the change.
            let _ = timeout(ANSWER, queued.request.answered()).await;
            self.deliver(&queued);
        }
    }

    fn deliver(&self, queued: &Queued) {
        let Queued { epoch, bucket, target, message, request } = queued;
        let _no_reset = self.epoch.delivery.lock();
        if self.epoch.number() == *epoch {
            self.targets.deliver(bucket, target, message, request.trace_header.as_deref());
        }
    }
}

impl Running {
    /// Delivers all events and stops. No request may be in progress.
    ///
    /// # Cancel safety
    /// If the future is dropped, undelivered events are lost.
    pub(in crate::s3) async fn stop(mut self) {
        self.stop.send_replace(true);
        // An error means that the task was aborted before.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}
