//! Topics without I/O: time and ids are parameters, and messages come out as recipients and texts.
//!
//! | Module | Contents |
//! |---|---|
//! | [`topic`], [`topic_attributes`], [`policy`], [`tags`] | a topic |
//! | [`subscription`], [`subscription_attributes`], [`protocol`] | its subscriptions |
//! | [`message`], [`message_attribute`], [`batch`], [`fifo`] | what publishers send |
//! | [`envelope`] | what subscribers get |
//! | [`backlog`], [`retry`] | deliveries that wait for a retry |
//! | [`change`] | what topics record for a store |
//! | [`arn`], [`json`], [`refusal`] | ARNs, JSON attributes and errors |

pub(crate) mod arn;
pub(crate) mod backlog;
pub(crate) mod batch;
mod change;
pub(crate) mod envelope;
mod fifo;
mod json;
pub(crate) mod message;
mod message_attribute;
mod policy;
pub(crate) mod protocol;
pub(crate) mod refusal;
mod retry;
pub(crate) mod subscription;
mod subscription_attributes;
pub(crate) mod tags;
pub(crate) mod topic;
mod topic_attributes;
#[cfg(test)]
pub(crate) mod topic_changes_tests;
#[cfg(test)]
mod topic_tests;

#[cfg(feature = "durable")]
pub(crate) use change::TopicSettings;
pub(crate) use change::{TopicChange, TopicNumber};
#[cfg(feature = "durable")]
pub(crate) use fifo::Known;
pub(crate) use fifo::Receipt;
#[cfg(any(test, feature = "durable"))]
pub(crate) use topic::TopicState;
pub(crate) use topic_attributes::{MAX_DISPLAY_NAME, MAXIMUM_MESSAGE_SIZES};
