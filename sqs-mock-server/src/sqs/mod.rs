//! Amazon SQS: pure queues ([`engine`]), the 23 operations on them ([`ops`]), their HTTP protocols ([`front`]),
//! recorded requests ([`journal`]), and what strict mode finds ([`findings`]).

pub(crate) mod engine;
pub(crate) mod findings;
pub(crate) mod front;
pub(crate) mod journal;
pub(crate) mod ops;
