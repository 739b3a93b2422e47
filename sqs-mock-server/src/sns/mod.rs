//! Amazon SNS: topics without I/O ([`engine`]), and filter policies of subscriptions ([`filter`]).

mod engine;
pub(crate) mod filter;
