//! The client: entries in, tickets out.

mod acknowledge;
mod builder;
mod close;
mod lanes;
mod refused;
mod send;

use std::fmt;
use std::sync::Arc;

use sqs_client::client::Execute;

use crate::admission::Admission;
use crate::consumer::Busy;
use crate::settings::Settings;
use crate::stats::{Counters, Stats};

pub use builder::Builder;
pub use refused::EnqueueError;

use lanes::Lanes;

/// A client that sends, deletes and changes visibility in batches.
///
/// It stands on any client that executes operations, and needs a tokio runtime. Clones share everything. When the last one
/// is dropped, what was admitted is still sent, in the background, as long as the runtime lives; [`close`](Self::close)
/// waits for it.
#[derive(Clone)]
pub struct BufferedClient<H: Execute = sqs_client::Client> {
    shared: Arc<Shared<H>>,
}

struct Shared<H: Execute> {
    handle: H,
    settings: Settings,
    admission: Arc<Admission>,
    counters: Arc<Counters>,
    lanes: Lanes,
    /// What consumers that stand on it are handling.
    busy: Arc<Busy>,
}

impl<H: Execute> BufferedClient<H> {
    /// A client with default settings.
    pub fn new(handle: H) -> Self {
        Self::builder(handle).build()
    }

    /// For a client with other settings.
    pub fn builder(handle: H) -> Builder<H> {
        Builder::new(handle)
    }

    fn assemble(handle: H, settings: Settings) -> Self {
        let admission = Arc::new(Admission::new(settings.max_entries, settings.max_bytes));
        let (counters, lanes) = (Arc::default(), Lanes::default());
        Self {
            shared: Arc::new(Shared { handle, settings, admission, counters, lanes, busy: Arc::default() }),
        }
    }

    /// The client below.
    pub fn handle(&self) -> &H {
        &self.shared.handle
    }

    /// Whether it takes no more entries.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.admission.is_closed()
    }

    pub(crate) fn busy(&self) -> &Arc<Busy> {
        &self.shared.busy
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        self.shared.counters.snapshot(self.shared.admission.taken())
    }
}

impl<H: Execute> fmt::Debug for BufferedClient<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferedClient").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

impl<H: Execute> Drop for Shared<H> {
    /// Workers hold their lanes, not this: they finish what was admitted, and end.
    fn drop(&mut self) {
        self.admission.close();
        self.lanes.close();
    }
}
