//! Amazon SQS: pure queues ([`engine`]), the 23 operations on them ([`ops`]), and their HTTP protocols ([`front`]).

pub(crate) mod engine;
pub(crate) mod front;
pub(crate) mod ops;
