//! Topics without I/O: time and ids are parameters, and messages come out as recipients and texts.
//!
//! | Module | Contents |
//! |---|---|
//! | [`topic`], [`topic_attributes`], [`policy`], [`tags`] | a topic |
//! | [`subscription`], [`subscription_attributes`], [`protocol`] | its subscriptions |
//! | [`message`], [`message_attribute`], [`batch`], [`fifo`] | what publishers send |
//! | [`envelope`] | what subscribers get |
//! | [`arn`], [`json`], [`refusal`] | ARNs, JSON attributes and errors |

pub(crate) mod arn;
pub(crate) mod batch;
pub(crate) mod envelope;
mod fifo;
mod json;
pub(crate) mod message;
mod message_attribute;
mod policy;
pub(crate) mod protocol;
pub(crate) mod refusal;
pub(crate) mod subscription;
mod subscription_attributes;
pub(crate) mod tags;
pub(crate) mod topic;
mod topic_attributes;
#[cfg(test)]
mod topic_tests;

pub(crate) use fifo::Receipt;
