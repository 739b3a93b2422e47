//! What the attempts of one call came to: the SDK tries again by itself and tells the end only.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::FinalizerInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

/// Watches the attempts of one call. Clones watch the same call.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    maybe_applied: Arc<AtomicBool>,
}

impl Attempts {
    /// Whether S3 may have done it in an attempt whose answer did not say so: no answer, or a failure in the middle.
    pub(super) fn maybe_applied(&self) -> bool {
        self.maybe_applied.load(Ordering::Relaxed)
    }
}

#[dyn_dispatch_hint]
impl Intercept for Attempts {
    fn name(&self) -> &'static str {
        "Attempts"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(Err(error)) = context.output_or_error() else { return Ok(()) };
        let maybe_applied = match context.response() {
            Some(response) => is_open(response.status().as_u16()),
            None => error.is_timeout_error() || error.as_connector_error().is_some_and(|e| !is_refused(e)),
        };
        self.maybe_applied.fetch_or(maybe_applied, Ordering::Relaxed);
        Ok(())
    }
}

/// Whether an answer with this status leaves open what has happened. 503 is how S3 asks for fewer requests; a success whose
/// body is an error or cannot be read is open.
fn is_open(status: u16) -> bool {
    status < 300 || (status >= 500 && status != 503)
}

/// Nobody was there to hear the request.
fn is_refused(error: &(impl Error + 'static)) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_settles_what_has_happened_and_a_broken_server_does_not() {
        assert!([400, 403, 404, 409, 412, 429, 503].iter().all(|status| !is_open(*status)));
        assert!([200, 500, 502, 504].iter().all(|status| is_open(*status)));
    }
}
