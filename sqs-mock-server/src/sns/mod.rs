//! Amazon SNS: topics without I/O ([`engine`]), filter policies of subscriptions ([`filter`]), the actions ([`ops`]), and their
//! parameters in forms ([`wire`]).

mod engine;
mod filter;
pub(crate) mod ops;
mod wire;
