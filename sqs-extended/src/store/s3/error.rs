//! Errors of S3 and of the SDK.

use std::error::Error as StdError;
use std::fmt;

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::RequestId as _;
use aws_smithy_runtime_api::http::Response;

use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;

/// A call, for error texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) what: What,
    pub(super) bucket: &'a str,
    pub(super) key: &'a str,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum What {
    Read,
    Write,
    Delete,
    List,
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.what {
            What::Read => "reading",
            What::Write => "writing",
            What::Delete => "deleting",
            What::List => "listing",
        };
        write!(f, "{verb} s3://{}/{}", self.bucket, self.key)
    }
}

impl<'a> Asked<'a> {
    pub(super) fn of(what: What, at: &'a Pointer) -> Self {
        Self { what, bucket: at.bucket(), key: at.key() }
    }

    /// A failed call. Its source is the error of the SDK.
    pub(super) fn failed<E>(self, error: SdkError<E, Response>) -> Error
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
    {
        let status = error.raw_response().map(|response| response.status().as_u16());
        let kind = match &error {
            SdkError::ServiceError(_) | SdkError::ResponseError(_) => kind(self.what, status, error.code()),
            SdkError::ConstructionFailure(_) => ErrorKind::Rejected,
            _ => ErrorKind::Unavailable,
        };
        let says = if let Some(service) = error.as_service_error() {
            let code = service.code().unwrap_or("an error without a code");
            let text = service.message().map(|text| format!(": {text}")).unwrap_or_default();
            let id = error.request_id().map(|id| format!(", request {id}")).unwrap_or_default();
            format!("S3 returned {code}{text} (status {}{id})", status.unwrap_or_default())
        } else {
            causes(&error)
        };
        Error::new(kind, format!("{self}: {says}")).caused_by(error)
    }

    /// An error that does not come from the SDK.
    pub(super) fn wrong(self, kind: ErrorKind, says: impl fmt::Display) -> Error {
        Error::new(kind, format!("{self}: {says}"))
    }
}

/// The texts of an error of the SDK and of its causes, because its own text has few details.
pub(super) fn causes(error: &(dyn StdError + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| (*error).source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Error codes of transient client errors. Conflicts mean that another request for the key is in flight.
const TRANSIENT: [&str; 6] = [
    "ConditionalRequestConflict",
    "OperationAborted",
    "RequestTimeout",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
];

fn kind(what: What, status: Option<u16>, code: Option<&str>) -> ErrorKind {
    match (status.unwrap_or_default(), code) {
        // A missing bucket is not a missing object, and neither is the 404 of a proxy, which has no error code of S3: a policy may
        // delete messages whose object is missing.
        (404, Some("NoSuchKey" | "NotFound")) if what == What::Read => ErrorKind::NotFound,
        (403, _) => ErrorKind::Forbidden,
        (412, _) if what == What::Write => ErrorKind::Exists,
        (412 | 416, _) if what == What::Read => ErrorKind::Damaged,
        // Server errors, and successes with an error or an unreadable body.
        (0..300 | 408 | 429 | 500.., _) => ErrorKind::Unavailable,
        (_, Some(code)) if TRANSIENT.contains(&code) => ErrorKind::Unavailable,
        _ => ErrorKind::Rejected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_key_is_not_found() {
        use ErrorKind::{NotFound, Rejected};
        assert_eq!(kind(What::Read, Some(404), Some("NoSuchKey")), NotFound);
        assert_eq!(kind(What::Read, Some(404), Some("NoSuchBucket")), Rejected);
        assert_eq!(kind(What::Read, Some(404), None), Rejected);
        assert_eq!(kind(What::Write, Some(404), Some("NoSuchUpload")), Rejected);
    }

    #[test]
    fn failed_condition_means_damaged_when_reading_and_exists_when_writing() {
        assert_eq!(kind(What::Read, Some(412), Some("PreconditionFailed")), ErrorKind::Damaged);
        assert_eq!(kind(What::Read, Some(416), Some("InvalidRange")), ErrorKind::Damaged);
        assert_eq!(kind(What::Write, Some(412), Some("PreconditionFailed")), ErrorKind::Exists);
    }

    #[test]
    fn transient_errors_are_unavailable_and_permanent_ones_rejected() {
        for (status, code) in
            [(500, "InternalError"), (503, "SlowDown"), (400, "RequestTimeout"), (200, "InternalError")]
        {
            assert_eq!(kind(What::Write, Some(status), Some(code)), ErrorKind::Unavailable, "{code}");
        }
        for (status, code) in [(400, "InvalidRequest"), (301, "PermanentRedirect"), (400, "BadDigest")] {
            assert_eq!(kind(What::Write, Some(status), Some(code)), ErrorKind::Rejected, "{code}");
        }
        assert_eq!(kind(What::Read, Some(403), Some("AccessDenied")), ErrorKind::Forbidden);
    }
}
