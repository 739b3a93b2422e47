//! The targets of notifications.

use serde::{Deserialize, Serialize};

use super::fault::Fault;

/// The maximum length of an ARN in bytes, which is the longest that AWS documents for any resource.
const MAX_ARN: usize = 2048;

/// A target of notifications.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) arn: String,
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) enum TargetKind {
    Queue,
    Topic,
    Function,
}

impl TargetKind {
    /// The element of the ARN in requests, the service, the kind of resource in texts, and the text about FIFO
    /// resources, of which that about topics is inferred.
    fn names(self) -> [&'static str; 4] {
        match self {
            Self::Queue => ["Queue", "sqs", "queue", "FIFO SQS queues are not supported."],
            Self::Topic => ["Topic", "sns", "topic", "FIFO SNS topics are not supported."],
            Self::Function => ["CloudFunction", "lambda", "function", "FIFO SQS queues are not supported."],
        }
    }

    /// The region of a target, from its ARN.
    pub(super) fn parse_arn(self, arn: &str) -> Result<&str, Fault> {
        let [element, service, ..] = self.names();
        let mut parts = arn.splitn(6, ':');
        match [(); 6].map(|()| parts.next().unwrap_or_default()) {
            ["arn", partition, found, region, account, name]
                if arn.len() <= MAX_ARN
                    && found == service
                    && ![partition, region, account, name].contains(&"") =>
            {
                Ok(region)
            }
            _ => Err(Fault::argument("The ARN could not be parsed", element, arn)),
        }
    }

    /// The kind of resource, in texts.
    pub(super) fn resource(self) -> &'static str {
        self.names()[2]
    }

    /// The text about FIFO resources.
    pub(super) fn no_fifo(self) -> &'static str {
        self.names()[3]
    }
}
