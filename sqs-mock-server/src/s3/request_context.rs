//! What the HTTP layer and an operation share about a request about a request.

use std::sync::Arc;

use http::Extensions;
use parking_lot::Mutex;
use tokio::sync::watch;

/// A request: its ids for events, and what its operation adds to the error and to the recorded request.
#[derive(Debug)]
pub(super) struct RequestContext {
    /// The header `x-amz-request-id` of the response.
    pub(super) id: String,
    /// The AWS X-Ray trace header.
    pub(super) trace_header: Option<String>,
    answered: watch::Receiver<()>,
    notes: Mutex<Vec<String>>,
    elements: Mutex<Vec<(String, String)>>,
}

/// Held by the HTTP layer until the response is ready.
#[derive(Debug)]
pub(super) struct Unanswered(#[expect(dead_code, reason = "its drop is the signal")] watch::Sender<()>);

impl RequestContext {
    /// A request that waits for its response.
    pub(super) fn new(id: &str, trace_header: Option<&str>) -> (Arc<Self>, Unanswered) {
        let (unanswered, answered) = watch::channel(());
        let context = Self {
            id: id.to_owned(),
            trace_header: trace_header.map(str::to_owned),
            answered,
            notes: Mutex::default(),
            elements: Mutex::default(),
        };
        (Arc::new(context), Unanswered(unanswered))
    }

    /// The context of an HTTP request; without HTTP, one with an empty id.
    pub(super) fn of(extensions: &Extensions) -> Arc<Self> {
        extensions.get::<Arc<Self>>().map_or_else(|| Self::new("", None).0, Arc::clone)
    }

    /// The header `x-amz-id-2` of the response.
    pub(super) fn host_id(&self) -> String {
        base64_simd::STANDARD.encode_to_string(&self.id)
    }

    /// Waits until the response is ready, or the caller is gone.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(super) async fn answered(&self) {
        // No value is ever sent: the only change is the drop of the sender.
        let _ = self.answered.clone().changed().await;
    }

    /// Adds a note to the recorded request, if there is one.
    pub(super) fn note(&self, text: Option<String>) {
        self.notes.lock().extend(text);
    }

    /// The notes for the recorded request.
    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock())
    }

    /// Adds elements to the error that the operation returns, such as `ArgumentName`.
    pub(super) fn describe_error(&self, elements: Vec<(String, String)>) {
        *self.elements.lock() = elements;
    }

    /// The further elements of the error.
    pub(super) fn error_elements(&self) -> Vec<(String, String)> {
        self.elements.lock().clone()
    }
}
