//! Amazon SNS: topics without I/O ([`engine`]), filter policies of subscriptions ([`filter`]), the key that signs
//! notifications ([`signing`]) and its [`certificate`], the actions ([`ops`]), and their parameters in forms ([`wire`]).

#![cfg_attr(
    not(feature = "durable"),
    allow(dead_code, unused_imports, reason = "only a store reads changes and restores topics")
)]

pub(crate) mod certificate;
pub(crate) mod engine;
mod filter;
pub(crate) mod ops;
mod signing;
mod wire;
