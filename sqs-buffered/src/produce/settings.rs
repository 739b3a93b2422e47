//! The settings of a client.

use std::time::Duration;

use sqs_client::wire::limits::MAX_BATCH_BYTES;

use super::lane::{AfterFailure, BatchLimits, FifoOrdering, InFlight, Linger, RetryRules, Rules};

/// The longest delivery timeout on FIFO queues: after five minutes, SQS treats a retry as a new message.
const MAX_FIFO_DELIVERY: Duration = Duration::from_secs(280);

/// How long a request with a FIFO message is awaited at most, from the admission of the message.
pub(crate) const MAX_FIFO_REQUEST: Duration = Duration::from_secs(290);

/// The shortest first pause. Without a pause, retries would spin.
pub(crate) const MIN_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between batches of a lane whose batches fail. It limits how late the lane notices that the queue
/// has recovered.
const MAX_LANE_PAUSE: Duration = Duration::from_secs(1);
/// The same for deletes and visibility changes, which must be done before a lease ends.
const MAX_ACK_LANE_PAUSE: Duration = Duration::from_millis(250);

/// The largest message for layers that store bodies elsewhere.
pub(crate) const MAX_OFFLOADED_BYTES: usize = (1 << 31) - 1;

/// The deduplication id of FIFO messages that have none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum DedupId {
    /// A UUID, unless the queue has content-based deduplication. The client asks the queue (`sqs:GetQueueAttributes`) and
    /// remembers the answer for five minutes. If access is denied, it logs a warning and sends messages without an id until
    /// SQS requires one.
    #[default]
    Auto,
    /// No id: the queue must have content-based deduplication.
    Passthrough,
    /// A UUID. It overrides content-based deduplication.
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
    /// The rules of lanes of sends.
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

    /// The rules of lanes of deletes and visibility changes. The entries of a receipt handle stay in order, but do not depend
    /// on each other. They have no limit of attempts: without its delete, a message is handled again.
    pub(crate) fn of_acknowledgements(&self) -> Rules {
        let retry = RetryRules { attempts: u32::MAX, max_lane_pause: MAX_ACK_LANE_PAUSE, ..self.retry };
        let (ordering, after_failure) = (FifoOrdering::Strict, AfterFailure::Continue);
        Rules { ordering, after_failure, retry, ..self.of_sends() }
    }

    /// How long an entry may take from its admission.
    pub(crate) fn delivery_timeout(&self, fifo: bool) -> Duration {
        if fifo { self.delivery_timeout.min(MAX_FIFO_DELIVERY) } else { self.delivery_timeout }
    }
}
