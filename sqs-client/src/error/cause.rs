//! What went wrong, with its source, and what is known about the call beside that.

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

/// What is known about a call beside the cause of its failure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(crate) action: Option<Action>,
    pub(crate) attempts: u32,
    /// When the first of them began, as far as timeouts go.
    pub(crate) begun: Option<Instant>,
    /// Of the latest attempt.
    pub(crate) request_id: Option<String>,
    /// Of the latest attempt.
    pub(crate) status: Option<u16>,
    /// The answer to the latest attempt, when it gave no output.
    #[cfg(feature = "sdk")]
    pub(crate) response: Option<http::Response<bytes::Bytes>>,
    /// Whether any attempt may have been acted on without an answer that says so.
    pub(crate) maybe_acted: bool,
    /// The pause after which the client would have tried again, had it not been told to repeat nothing.
    pub(crate) repeat_after: Option<Duration>,
}

/// What went wrong.
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
    AttemptTimeout(Duration),
    OperationTimeout(Duration),
    Service(ServiceError),
    Unreadable(DecodeError),
    Checksum(Arc<Damaged>),
    /// The AWS SDK failed before it sent anything.
    #[cfg(feature = "aws-sdk-sqs")]
    AwsSdk(Arc<dyn std::error::Error + Send + Sync>),
}

/// An answer that came, with checksums that are wrong.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) mismatches: Vec<ChecksumMismatch>,
    pub(crate) output: Box<dyn Any + Send + Sync>,
}
