//! Messages to handlers.

pub(crate) mod adaptive;
pub(crate) mod batch;
pub(crate) mod builder;
pub(crate) mod consumer;
pub(crate) mod envelope;
pub(crate) mod extract;
pub(crate) mod gate;
pub(crate) mod group;
pub(crate) mod handler;
pub(crate) mod idempotent;
pub(crate) mod lambda;
pub(crate) mod lines;
pub(crate) mod pool;
pub(crate) mod router;
pub(crate) mod run;
pub(crate) mod settle;
pub(crate) mod work;
