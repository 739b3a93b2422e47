//! Notifications about changes of a bucket, without the server: which are configured, which match, and their JSON.
//!
//! ```text
//! PUT ?notification -> Requested -> Configuration::check -> the targets exist -> Configuration, test message to each target
//! a change of an object -> Configuration::rules_for(event, key) -> Event::json -> a message to each target
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

pub(crate) use configuration::{Configuration, Requested, RequestedRule};
pub(crate) use events::{Change, StoredObject};
pub(crate) use fault::{Fault, FaultCode, UnusableTarget};
pub(crate) use key_filter::KeyFilter;
pub(crate) use record::{Event, test_message};
pub(crate) use target::{Target, TargetKind};
