//! What can be set of a client.

use std::time::Duration;

use sqs_client::wire::limits::MAX_BATCH_BYTES;

use super::lane::{AfterFailure, BatchLimits, FifoOrdering, InFlight, Linger, RetryRules, Rules};

/// The longest delivery timeout on FIFO queues: a message that is sent again after five minutes is a new one.
const MAX_FIFO_DELIVERY: Duration = Duration::from_secs(280);

/// When a request with such a message is over at the latest, from its admission on.
pub(crate) const MAX_FIFO_REQUEST: Duration = Duration::from_secs(290);

/// The shortest first pause that can be set. Attempts follow each other as fast as a processor can where there is none.
pub(crate) const LEAST_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between two batches of a lane whose batches fail: how late it notices that the queue has recovered.
const MAX_LANE_PAUSE: Duration = Duration::from_secs(1);
/// The same for deletes and visibility changes, which have the seconds until a lease ends.
const MAX_ACK_LANE_PAUSE: Duration = Duration::from_millis(250);

/// The largest message that can be taken: what layers that keep bodies elsewhere take.
pub(crate) const MAX_OFFLOADED_BYTES: usize = (1 << 31) - 1;

/// What FIFO messages without a deduplication id get before they are sent first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum DedupId {
    /// A UUID, unless the queue deduplicates by content. The client asks the queue for that (`sqs:GetQueueAttributes`) and
    /// remembers the answer for five minutes. If it may not ask, it logs a warning, and messages go without an id until the
    /// queue refuses one for that.
    #[default]
    Auto,
    /// Nothing: the queue has to deduplicate by content.
    Passthrough,
    /// A UUID, which switches deduplication by content off.
    GenerateUuid,
}

/// All settings, with their defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) limits: BatchLimits,
    pub(crate) linger: Linger,
    pub(crate) in_flight: InFlight,
    pub(crate) ordering: FifoOrdering,
    pub(crate) after_failure: AfterFailure,
    pub(crate) dedup_id: DedupId,
    pub(crate) retry: RetryRules,
    pub(crate) delivery_timeout: Duration,
    pub(crate) admission_timeout: Duration,
    pub(crate) max_message_bytes: usize,
    pub(crate) max_entries: usize,
    pub(crate) max_bytes: usize,
    pub(crate) close_grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: BatchLimits::default(),
            linger: Linger::default(),
            in_flight: InFlight::default(),
            ordering: FifoOrdering::default(),
            after_failure: AfterFailure::default(),
            dedup_id: DedupId::default(),
            retry: RetryRules {
                attempts: u32::MAX,
                first_pause: Duration::from_millis(50),
                max_pause: Duration::from_secs(5),
                max_lane_pause: MAX_LANE_PAUSE,
            },
            delivery_timeout: Duration::from_mins(2),
            admission_timeout: Duration::from_mins(1),
            max_message_bytes: MAX_BATCH_BYTES,
            max_entries: 10_000,
            max_bytes: 32 << 20,
            close_grace: Duration::from_secs(25),
        }
    }
}

impl Settings {
    /// Of a lane of sends.
    pub(crate) fn of_sends(&self) -> Rules {
        Rules {
            limits: self.limits,
            linger: self.linger,
            in_flight: self.in_flight,
            ordering: self.ordering,
            after_failure: self.after_failure,
            retry: self.retry,
            tells_retries: false,
        }
    }

    /// Of a lane of deletes or changes of visibility. Each receipt handle is a run of its own, whose entries stay in order
    /// and do not depend on each other. They are tried as long as there is time, however often: what is given up here is
    /// work that is done again.
    pub(crate) fn of_acknowledgements(&self) -> Rules {
        let retry = RetryRules { attempts: u32::MAX, max_lane_pause: MAX_ACK_LANE_PAUSE, ..self.retry };
        let (ordering, after_failure) = (FifoOrdering::Strict, AfterFailure::Continue);
        Rules { ordering, after_failure, retry, ..self.of_sends() }
    }

    /// How long an entry may take.
    pub(crate) fn delivery_timeout(&self, fifo: bool) -> Duration {
        if fifo { self.delivery_timeout.min(MAX_FIFO_DELIVERY) } else { self.delivery_timeout }
    }
}
