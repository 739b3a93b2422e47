//! Amazon SQS: pure queues ([`engine`]), the 23 operations on them ([`ops`]), their HTTP protocols ([`front`]),
//! and recorded requests ([`journal`]).

pub(crate) mod engine;
pub(crate) mod front;
pub(crate) mod journal;
pub(crate) mod ops;
