//! The attempts of one call: the SDK retries by itself and returns the last result only.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_s3::error::ProvideErrorMetadata;
use aws_sdk_s3::operation::complete_multipart_upload::CompleteMultipartUploadError;
use aws_sdk_s3::operation::put_object::PutObjectError;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::FinalizerInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{self, Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

/// Observes the attempts of one call. Clones share the result.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    maybe_applied: Arc<AtomicBool>,
}

impl Attempts {
    /// Whether S3 may have executed an attempt that failed: no response, or a server error.
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
            Some(response) => is_open(response.status().as_u16(), error.as_operation_error().and_then(code)),
            None => error.is_timeout_error() || error.as_connector_error().is_some_and(|e| !is_refused(e)),
        };
        self.maybe_applied.fetch_or(maybe_applied, Ordering::Relaxed);
        Ok(())
    }
}

/// The error codes of throttled requests, which were not executed.
const THROTTLED: &[&str] =
    &["SlowDown", "SlowDownRead", "SlowDownWrite", "Throttling", "ThrottlingException"];

/// Whether S3 may have executed a request with this response. A 503 with another code may come from a proxy that lost
/// the response. A successful status with an unreadable body may have been executed, too.
fn is_open(status: u16, code: Option<&str>) -> bool {
    status < 300 || (status >= 500 && !code.is_some_and(|code| THROTTLED.contains(&code)))
}

/// The error code of an observed call.
fn code(error: &interceptors::context::Error) -> Option<&str> {
    let put = error.downcast_ref::<PutObjectError>().and_then(ProvideErrorMetadata::code);
    put.or_else(|| error.downcast_ref::<CompleteMultipartUploadError>()?.code())
}

/// The connection was refused, so no request was sent.
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
    fn outcome_is_known_after_a_client_error_and_unknown_after_a_server_error() {
        assert!([400, 403, 404, 409, 412, 429].iter().all(|status| !is_open(*status, None)));
        assert!([200, 500, 502, 503, 504].iter().all(|status| is_open(*status, None)));
        assert!(!is_open(503, Some("SlowDown")) && is_open(503, Some("ServiceUnavailable")));
    }
}
