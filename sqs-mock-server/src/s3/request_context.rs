//! What the HTTP layer, an operation and its events share about a request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use http::Extensions;
use hyper::body::Incoming;
use parking_lot::Mutex;

use crate::service::faults::Plan;
use crate::service::resource::Resource;

/// A request: its ids for events, its operation and faults, and what its operation adds to the error and to the recorded
/// request.
#[derive(Debug, Default)]
pub(super) struct RequestContext {
    /// The header `x-amz-request-id` of the response; empty without HTTP.
    pub(super) id: String,
    /// The AWS X-Ray trace header.
    pub(super) trace_header: Option<String>,
    /// The number of resets before the request.
    pub(super) resets: u64,
    /// Set once s3s has found the operation.
    pub(super) info: OnceLock<RequestInfo>,
    /// Set once the operation is known.
    pub(super) plan: OnceLock<Plan>,
    /// The rest of a body that was not read to its end.
    pub(super) rest: Mutex<Option<Incoming>>,
    is_answered: AtomicBool,
    notes: Mutex<Vec<String>>,
    elements: Mutex<Vec<(String, String)>>,
}

/// Operation and resource of a request.
#[derive(Debug)]
pub(super) struct RequestInfo {
    /// The name that AWS uses.
    pub(super) operation: String,
    pub(super) resource: Option<Resource>,
}

impl RequestContext {
    pub(super) fn new(id: String, trace_header: Option<String>, resets: u64) -> Arc<Self> {
        Arc::new(Self { id, trace_header, resets, ..Self::default() })
    }

    /// The context of an HTTP request; without HTTP, one with an empty id.
    pub(super) fn of(extensions: &Extensions) -> Arc<Self> {
        extensions.get::<Arc<Self>>().cloned().unwrap_or_default()
    }

    /// The header `x-amz-id-2` of the response.
    pub(super) fn host_id(&self) -> String {
        base64_simd::STANDARD.encode_to_string(&self.id)
    }

    /// Whether the response is ready, or the caller gone.
    pub(super) fn is_answered(&self) -> bool {
        self.is_answered.load(Ordering::Acquire)
    }

    /// Reports that the response is ready, or the caller gone.
    pub(super) fn set_answered(&self) {
        self.is_answered.store(true, Ordering::Release);
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
