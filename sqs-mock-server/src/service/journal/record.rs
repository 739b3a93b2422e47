//! One request, as it was.

use std::fmt;
use std::time::Duration;

use sqs_client::operation::{Action, Input, Operation};
use sqs_client::wire::protocol::{Form, Protocol};
use sqs_client::wire::service_error::ErrorCode;

use super::named::Named;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;

/// A request that the server was sent.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub(super) number: u64,
    pub(super) request_id: Box<str>,
    pub(super) time: Timestamp,
    pub(super) protocol: Protocol,
    pub(super) action: Option<Action>,
    /// Region and account.
    pub(super) caller: Option<(Box<str>, Box<str>)>,
    pub(super) path: Option<Box<str>>,
    /// `None` for one that is too long to be kept.
    pub(super) content: Option<Box<[u8]>>,
    pub(super) ending: Ending,
    pub(super) elapsed: Duration,
}

/// What became of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// It was answered.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The code of the service, when it was refused with one.
        error: Option<ErrorCode>,
    },
    /// The caller went away before the answer: a timeout, a dropped future, a lost connection.
    Abandoned,
    /// A fault broke the connection, before the answer or within it.
    Broken,
}

/// A recorded request does not hold the input that was asked for; the text says what it holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotThisInput(String);

impl RecordedRequest {
    /// Its number among all requests since the start, from 1 on, in the order of the answers.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its id, as the answer says it.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// When it came, by the clock of the server.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// The protocol that it came in.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// What it asks for; `None` when that is no action of SQS.
    pub fn action(&self) -> Option<Action> {
        self.action
    }

    /// The account of the caller; `None` when the request was refused before that mattered.
    pub fn account(&self) -> Option<&str> {
        self.caller.as_ref().map(|(_, account)| &**account)
    }

    /// The region of the caller; `None` when the request was refused before that mattered.
    pub fn region(&self) -> Option<&str> {
        self.caller.as_ref().map(|(region, _)| &**region)
    }

    /// What became of it.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// The HTTP status of the answer; `None` when the caller went away before.
    pub fn status(&self) -> Option<u16> {
        match self.ending {
            Ending::Answered { status, .. } => Some(status),
            Ending::Abandoned | Ending::Broken => None,
        }
    }

    /// The code that it was refused with.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        match &self.ending {
            Ending::Answered { error, .. } => error.as_ref(),
            Ending::Abandoned | Ending::Broken => None,
        }
    }

    /// How long the answer took, in real time.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The body of AWS JSON, the form of the Query protocol without what signs it; empty when it is longer than the
    /// whole journal may be.
    pub fn content(&self) -> &[u8] {
        self.content.as_deref().unwrap_or_default()
    }

    /// The queue that it is about: by URL, by name, or as the source of a move task. `None` for lists of queues, and
    /// for requests that name no queue.
    pub fn queue(&self) -> Option<QueueArn> {
        let (region, account) = self.caller.as_ref()?;
        let named = match self.protocol {
            Protocol::AwsJson => serde_json::from_slice(self.content()).ok()?,
            Protocol::Query => Named::in_form(&Form::parse(self.content()).ok()?, self.path.as_deref()),
        };
        let account = named.owner.as_deref().unwrap_or(account);
        let text = named.url.or(named.name).or(named.source).filter(|text| !text.is_empty())?;
        Some(QueueArn::named(&text, region, account))
    }

    /// Decodes the input, such as a
    /// [`SendMessageInput`](sqs_client::operation::send_message::SendMessageInput).
    ///
    /// # Errors
    /// The request asks for another action, cannot be decoded, or was too long to be kept.
    pub fn input<I: Input>(&self) -> Result<I, NotThisInput> {
        let wanted = <I::Operation as Operation>::ACTION;
        if self.action != Some(wanted) {
            return Err(NotThisInput(format!("the request is {}, not {wanted}", self.action_name())));
        }
        let content = self.content.as_ref().ok_or_else(|| {
            NotThisInput("the request was too long for the journal to keep its content".to_owned())
        })?;
        self.protocol.decode_request(content).map_err(|error| NotThisInput(error.to_string()))
    }

    /// What it takes of the room that all contents have together.
    pub(super) fn bytes(&self) -> usize {
        let (region, account) =
            self.caller.as_ref().map_or((0, 0), |(region, account)| (region.len(), account.len()));
        let path = self.path.as_ref().map_or(0, |path| path.len());
        self.request_id.len() + region + account + path + self.content().len()
    }

    /// The action, or a dash.
    pub(crate) fn action_name(&self) -> &'static str {
        self.action.map_or("-", Action::as_str)
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

impl fmt::Display for NotThisInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotThisInput {}
