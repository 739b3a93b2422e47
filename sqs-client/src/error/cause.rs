//! The cause of an error, and the context of the failed call.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_types::error::operation::BuildError;

use crate::endpoint::EndpointError;
use crate::transport::TransportError;
use crate::wire::checksum::ChecksumMismatch;
use crate::wire::model::Action;
use crate::wire::protocol::{DecodeError, EncodeError};
use crate::wire::service_error::ServiceError;
use crate::wire::sign::SignError;

/// The context of a failed call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(crate) action: Option<Action>,
    pub(crate) attempts: u32,
    /// When the first attempt started; the operation timeout counts from here.
    pub(crate) begun: Option<Instant>,
    /// Of the latest attempt.
    pub(crate) request_id: Option<String>,
    /// Of the latest attempt.
    pub(crate) status: Option<u16>,
    /// The response to the latest attempt, if it had no output.
    #[cfg(feature = "sdk")]
    pub(crate) response: Option<http::Response<bytes::Bytes>>,
    /// Whether the service may have executed any attempt without a response that confirms it.
    pub(crate) outcome_unknown: bool,
    /// The pause of a retry that `Retries::UnlessInDoubt` suppressed.
    pub(crate) repeat_after: Option<Duration>,
}

/// The cause of an error.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    Build(Arc<BuildError>),
    Invalid(ServiceError),
    Endpoint(EndpointError),
    NoTransport,
    NoTls,
    Encode(EncodeError),
    Sign(SignError),
    Credentials(Arc<CredentialsError>),
    NoCredentials,
    Transport(TransportError),
    /// With the timeout, if it is known.
    AttemptTimeout(Option<Duration>),
    OperationTimeout(Duration),
    Service(ServiceError),
    Unreadable(DecodeError),
    Checksum(Arc<Damaged>),
    /// The AWS SDK failed before it sent a request.
    #[cfg(feature = "aws-sdk-sqs")]
    AwsSdk(Arc<dyn std::error::Error + Send + Sync>),
}

/// An output whose checksums do not match.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) mismatches: Vec<ChecksumMismatch>,
    pub(crate) output: Box<dyn Any + Send + Sync>,
}
