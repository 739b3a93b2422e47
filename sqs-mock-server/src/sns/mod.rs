//! Amazon SNS: filter policies of subscriptions ([`filter`]).

pub(crate) mod filter;
