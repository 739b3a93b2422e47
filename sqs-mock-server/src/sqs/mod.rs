//! Amazon SQS: queues without I/O ([`engine`]), the 23 operations on them ([`ops`]), their HTTP protocols ([`front`]),
//! recorded requests ([`journal`]), and findings of strict mode ([`findings`]).

pub(crate) mod engine;
pub(crate) mod findings;
pub(crate) mod front;
pub(crate) mod journal;
pub(crate) mod locked_queue;
pub(crate) mod metrics;
pub(crate) mod ops;
pub(crate) mod query_json;
pub(crate) mod queue_url;
pub(crate) mod service;
