//! Protocols and endpoints of subscriptions.

use super::refusal::invalid;
use crate::service::arn::QueueArn;
use crate::service::query_error::QueryError;
use crate::service::text_enum::text_enum;

/// A limit of this server that bounds memory; the longest endpoints are URLs.
const MAX_ENDPOINT: usize = 2_048;

text_enum! {
    /// How a subscriber gets messages. The texts are also the keys in messages with a text for each protocol.
    pub(crate) enum Protocol {
        Http => "http",
        Https => "https",
        Email => "email",
        EmailJson => "email-json",
        Sms => "sms",
        Sqs => "sqs",
        Application => "application",
        Lambda => "lambda",
        Firehose => "firehose",
    }
}

impl Protocol {
    /// Finds a protocol by its name on the wire.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn find(name: &str) -> Result<Self, QueryError> {
        let unknown = || invalid(format_args!("Amazon SNS does not support this protocol string: {name}"));
        Self::from_text(name).ok_or_else(unknown)
    }

    /// Whether the endpoint is a URL.
    pub(crate) fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Whether the owner of the endpoint must confirm the subscription.
    pub(crate) fn needs_confirmation(self) -> bool {
        self.is_http() || matches!(self, Self::Email | Self::EmailJson)
    }

    /// Whether the subscriber can get the message without an envelope.
    pub(crate) fn can_be_raw(self) -> bool {
        self.is_http() || matches!(self, Self::Sqs | Self::Firehose)
    }

    /// Whether it can subscribe to FIFO topics.
    pub(crate) fn takes_fifo(self) -> bool {
        matches!(self, Self::Sqs | Self::Lambda | Self::Firehose)
    }

    /// Whether the subscriber takes messages over 256 KiB.
    pub(crate) fn takes_large_messages(self) -> bool {
        matches!(self, Self::Sqs | Self::Lambda | Self::Firehose)
    }
}

/// Where a subscriber gets messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Endpoint {
    Queue(QueueArn),
    /// An endpoint outside of this server, which gets no messages.
    Outside(Protocol, Box<str>),
}

impl Endpoint {
    /// Reads an endpoint.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn read(protocol: Protocol, text: &str) -> Result<Self, QueryError> {
        if protocol == Protocol::Sqs {
            let arn = text.parse().map_err(|_| invalid("SQS endpoint ARN"))?;
            return Ok(Self::Queue(arn));
        }
        let is_legal = match protocol {
            Protocol::Http => text.starts_with("http://"),
            Protocol::Https => text.starts_with("https://"),
            Protocol::Email | Protocol::EmailJson => text.contains('@'),
            _ => !text.is_empty(),
        };
        if !is_legal || text.len() > MAX_ENDPOINT {
            return Err(invalid("Endpoint must match the specified protocol"));
        }
        Ok(Self::Outside(protocol, text.into()))
    }

    /// The protocol.
    pub(crate) fn protocol(&self) -> Protocol {
        match self {
            Self::Queue(_) => Protocol::Sqs,
            Self::Outside(protocol, _) => *protocol,
        }
    }

    /// Whether it is a FIFO queue.
    pub(crate) fn is_fifo(&self) -> bool {
        matches!(self, Self::Queue(arn) if arn.is_fifo())
    }
}

/// The endpoint as the subscriber gave it.
impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Queue(arn) => arn.fmt(f),
            Self::Outside(_, text) => f.write_str(text),
        }
    }
}
