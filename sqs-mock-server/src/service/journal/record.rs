//! One request in the journal.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;

use crate::service::clock::Timestamp;
use crate::service::metrics::{ABORTED, OK};
use crate::service::operation::ServiceName;
use crate::service::resource::Resource;

/// A request to any service.
#[derive(Debug)]
pub(crate) struct Record {
    /// Numbered from 1 in the order of the responses, over all services. A reset does not restart the numbers.
    pub(crate) number: u64,
    pub(crate) service: ServiceName,
    /// `None` if the request was rejected before the operation was known.
    pub(crate) operation: Option<Cow<'static, str>>,
    pub(crate) request_id: Box<str>,
    /// The arrival, by the clock of the server.
    pub(crate) time: Timestamp,
    /// `None` if the service does not know callers, or rejected the request before it knew the caller.
    pub(crate) caller: Option<Caller>,
    /// `None` also if the input names the resource.
    pub(crate) resource: Option<Resource>,
    /// `None` for services that stream their input.
    pub(crate) input: Option<RecordedInput>,
    /// Mistakes in the request, as text.
    pub(crate) warnings: Box<[String]>,
    pub(crate) ending: Ending,
    /// The body of the response; `None` without a complete response, and for services that stream it.
    pub(crate) answer: Option<Bytes>,
    /// In real time.
    pub(crate) elapsed: Duration,
}

/// Region and account of a caller.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) region: Box<str>,
    pub(crate) account: Box<str>,
}

/// The input of a request in AWS JSON or the Query protocol. It is decoded when it is read.
#[derive(Debug)]
pub(crate) struct RecordedInput {
    pub(crate) protocol: Protocol,
    /// The path of a form, which may name the resource.
    pub(crate) path: Option<Box<str>>,
    /// `None` if it is larger than the limit of the whole journal.
    pub(crate) content: Option<Box<[u8]>>,
}

/// How a request ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// The server responded.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The error code, if the request failed.
        error: Option<ErrorCode>,
    },
    /// The caller disconnected before the response: after a timeout, a dropped future or a lost connection.
    Abandoned,
    /// A fault broke the connection, before the response or within it.
    Broken,
}

impl Ending {
    /// The HTTP status; `None` without a complete response.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Answered { status, .. } => Some(*status),
            Self::Abandoned | Self::Broken => None,
        }
    }

    /// The code in metrics and logs.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Answered { error: Some(code), .. } => code.query_code(),
            Self::Answered { error: None, .. } => OK,
            Self::Abandoned | Self::Broken => ABORTED,
        }
    }

    /// The error code.
    pub(crate) fn error_code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Answered { error, .. } => error.as_ref(),
            Self::Abandoned | Self::Broken => None,
        }
    }
}

impl Record {
    /// The input; empty if it was not recorded.
    pub(crate) fn content(&self) -> &[u8] {
        self.input.as_ref().and_then(|input| input.content.as_deref()).unwrap_or_default()
    }

    /// Its approximate size, for the limit of the journal.
    pub(super) fn bytes(&self) -> usize {
        let caller = self.caller.as_ref().map_or(0, |caller| caller.region.len() + caller.account.len());
        let path = self.input.as_ref().and_then(|input| input.path.as_ref()).map_or(0, |path| path.len());
        let resource = self.resource.as_ref().map_or(0, Resource::bytes);
        let warnings: usize = self.warnings.iter().map(String::len).sum();
        let answer = self.answer.as_ref().map_or(0, Bytes::len);
        self.request_id.len() + caller + path + resource + warnings + answer + self.content().len()
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { status, error: None } => write!(f, "{status}"),
            Self::Answered { status, error: Some(error) } => write!(f, "{status} {}", error.shape()),
            Self::Abandoned => f.write_str("abandoned"),
            Self::Broken => f.write_str("broken by a fault"),
        }
    }
}
