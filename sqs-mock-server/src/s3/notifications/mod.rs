//! Notifications about changes of a bucket, without the server: which are configured, which match, and their JSON.
//!
//! ```text
//! PUT ?notification -> RequestedRule -> Configuration::check -> the targets exist -> Configuration, test message to each target
//! a change of an object -> Configuration::rule_for(event, key) -> Event::json -> a message to the target of the rule
//! ```
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventNotifications.html>

mod configuration;
mod event;
mod rule;
#[cfg(test)]
mod tests;

use std::fmt;

use s3s::S3ErrorCode;

pub(crate) use configuration::{Configuration, UnusableTarget};
#[cfg(feature = "config-file")]
pub(crate) use event::SELECTABLE;
pub(crate) use event::{COMPLETE, Change, DELETE, Event, POST, PUT, test_message};
pub(crate) use rule::{KeyFilter, RequestedRule, Rule, Target, TargetKind};

/// The text of the error `MalformedXML`.
pub(crate) const MALFORMED_XML: &str =
    "The XML you provided was not well-formed or did not validate against our published schema";

/// An error of a notification configuration, with the elements that name the faulty part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: S3ErrorCode,
    pub(crate) message: &'static str,
    /// Names and contents of further elements of the error, such as `ArgumentName`.
    pub(crate) elements: Vec<(String, String)>,
}

impl Fault {
    fn plain(message: &'static str) -> Self {
        Self { code: S3ErrorCode::InvalidArgument, message, elements: Vec::new() }
    }

    fn argument(message: &'static str, name: &str, value: &str) -> Self {
        let elements = [("ArgumentName", name), ("ArgumentValue", value)];
        let elements = elements.map(|(element, text)| (element.to_owned(), text.to_owned())).into();
        Self { elements, ..Self::plain(message) }
    }
}

/// The message, and the contents of the further elements in parentheses.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)?;
        let contents: Vec<_> = self.elements.iter().map(|(_, text)| text.as_str()).collect();
        if contents.is_empty() { Ok(()) } else { write!(f, " ({})", contents.join(", ")) }
    }
}
