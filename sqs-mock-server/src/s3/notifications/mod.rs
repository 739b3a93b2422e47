//! Notifications about changes of a bucket, without the server: which are configured, which match, and their JSON.
//!
//! ```text
//! PUT ?notification -> RequestedRule -> Configuration::check -> the targets exist -> Configuration, test message to each target
//! a change of an object -> Configuration::rule_for(event, key) -> Event::json -> a message to the target of the rule
//! ```
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventNotifications.html>

mod configuration;
mod events;
mod fault;
mod key_filter;
mod record;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use configuration::{Configuration, RequestedRule, Rule};
pub(crate) use events::SELECTABLE;
pub(crate) use events::{COMPLETE, Change, DELETE, POST, PUT};
pub(crate) use fault::{Fault, MALFORMED_XML, UnusableTarget};
pub(crate) use key_filter::KeyFilter;
pub(crate) use record::{Event, test_message};
pub(crate) use target::{Target, TargetKind};
