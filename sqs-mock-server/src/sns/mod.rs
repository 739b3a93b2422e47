//! Amazon SNS: topics without I/O ([`engine`]), filter policies of subscriptions ([`filter`]), the key that signs
//! notifications ([`signing`]), the actions ([`ops`]), and their parameters in forms ([`wire`]).

#![cfg_attr(
    not(all(feature = "config-file", feature = "durable")),
    allow(dead_code, unused_imports, reason = "these features use the rest")
)]

pub(crate) mod engine;
mod filter;
pub(crate) mod ops;
pub(crate) mod signing;
mod wire;
