//! Settings of a consumer that is to be made.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::types::Message;

use super::back_off::BackOff;
use super::handler::Handler;
use super::outcome::{GroupPace, HandlerError, Outcome};
use super::{Consumer, Parts};
use crate::lease::Lease;
use crate::receive::{Event, Hook, Settings, Source};

/// How long the end of a run may take.
const GRACE: Duration = Duration::from_secs(30);

/// Settings of a [`Consumer`] that is to be made. What cannot work shows as an error when it is run.
#[must_use = "a consumer does nothing before it is built and run"]
pub struct ConsumerBuilder<H: Execute = sqs_client::Client> {
    source: Source<H>,
    settings: Settings,
    back_off: BackOff,
    pace: GroupPace,
    grace: Duration,
    hook: Option<Hook>,
}

/// A [`ConsumerBuilder`] with a handler.
#[must_use = "a consumer does nothing before it is built and run"]
pub struct ReadyConsumer<H: Execute = sqs_client::Client> {
    builder: ConsumerBuilder<H>,
    handler: Handler,
}

impl<H: Execute> ConsumerBuilder<H> {
    pub(super) fn new(source: Source<H>) -> Self {
        Self {
            source,
            settings: Settings::default(),
            back_off: BackOff::default(),
            pace: GroupPace::default(),
            grace: GRACE,
            hook: None,
        }
    }

    /// How many handlers run at a time, at least 1; 10 by default.
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.settings.concurrency = handlers;
        self
    }

    /// How many messages more than handlers may be here, so that the next is at hand when one is done; 0 by default. Their
    /// leases are renewed while they wait. Together with the concurrency at most 120,000.
    pub fn prefetch(mut self, messages: usize) -> Self {
        self.settings.prefetch = messages;
        self
    }

    /// How long messages are hidden by a receive and by each renewal: 1 second to 12 hours, whole seconds. By default what
    /// the queue says; it is asked once. It need not be as long as handlers run, as it is renewed meanwhile; it is how long
    /// a message stays away when this process ends without a word.
    pub fn visibility_timeout(mut self, timeout: Duration) -> Self {
        self.settings.visibility_timeout = Some(timeout);
        self
    }

    /// How long the service holds the answer back when there is nothing, 0 to 20 whole seconds; 20 by default. A shutdown
    /// waits for it.
    pub fn wait_time(mut self, wait: Duration) -> Self {
        self.settings.wait_time = wait;
        self
    }

    /// For how long a lease is renewed, from the receive on; an hour by default, at most 12 hours count. Then it is lost.
    pub fn max_lease(mut self, longest: Duration) -> Self {
        self.settings.max_lease = longest;
        self
    }

    /// How long a message stays hidden after its handler failed or panicked.
    pub fn back_off(mut self, policy: BackOff) -> Self {
        self.back_off = policy;
        self
    }

    /// When the next message of a group may start, on FIFO queues.
    pub fn group_pace(mut self, pace: GroupPace) -> Self {
        self.pace = pace;
        self
    }

    /// How long handlers and receives have to end when [`run_until`](Consumer::run_until) comes to its end; 30 seconds by
    /// default. With less than the [wait time](Self::wait_time), a receive may be cut off, and what it would have brought
    /// stays hidden until its visibility timeout has passed.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Is called with what happens in the background. It must neither block nor panic.
    pub fn on_event(mut self, hook: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// What handles messages. Each call runs in a task of its own; a panic is treated as an error. The message has all its
    /// attributes. A handler whose lease is [lost](Lease::lost) goes on, but its outcome does not count.
    pub fn handler<F, R>(self, handler: F) -> ReadyConsumer<H>
    where
        F: Fn(Arc<Message>, Lease) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome, HandlerError>> + Send + 'static,
    {
        ReadyConsumer { builder: self, handler: Handler::new(handler) }
    }
}

impl<H: Execute> ReadyConsumer<H> {
    /// Makes the consumer. It does nothing before it is [run](Consumer::run).
    pub fn build(self) -> Consumer<H> {
        let Self { builder, handler } = self;
        let ConsumerBuilder { source, settings, back_off, pace, grace, hook } = builder;
        Consumer::assemble(Parts { source, settings, back_off, pace, grace, hook, handler })
    }
}

impl<H: Execute> fmt::Debug for ConsumerBuilder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsumerBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<H: Execute> fmt::Debug for ReadyConsumer<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyConsumer").field("builder", &self.builder).finish_non_exhaustive()
    }
}
