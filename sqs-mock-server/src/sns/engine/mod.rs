//! Topics without I/O: time and ids are parameters, messages come out as recipients and texts, and changes go to a reader
//! as values.
//!
//! | Module | Contents |
//! |---|---|
//! | [`topic`], [`settings`], [`policy`] | a topic |
//! | [`subscription`], [`subscription_attributes`], [`protocol`] | its subscriptions |
//! | [`message`], [`message_attribute`], [`fifo`] | what publishers send |
//! | [`envelope`] | what subscribers get |
//! | [`backlog`] | deliveries that wait for a retry |
//! | [`change`] | what topics and deliveries record for a store |
//! | [`arn`], [`refusal`] | ARNs and errors |

pub(crate) mod arn;
pub(crate) mod backlog;
mod change;
pub(crate) mod envelope;
mod fifo;
pub(crate) mod message;
mod message_attribute;
mod policy;
pub(crate) mod protocol;
pub(crate) mod refusal;
pub(crate) mod settings;
pub(crate) mod subscription;
pub(crate) mod subscription_attributes;
pub(crate) mod topic;
#[cfg(test)]
pub(crate) mod topic_changes_tests;
#[cfg(test)]
mod topic_tests;

pub(crate) use change::{
    Recorder, TopicChange, TopicNumber, TopicReader, TopicState, WaitingChange, WaitingDelivery,
};
pub(crate) use fifo::{Known, Published, Receipt};
pub(crate) use settings::{MAX_DISPLAY_NAME, MAXIMUM_MESSAGE_SIZES, TopicSettings};
