//! The server from outside: over sockets, in process, and as a binary.

mod accept;
mod admin;
mod admin_clock;
mod admin_queues;
mod admin_wait;
mod auto_create;
mod backdoor;
mod bounds;
mod callers;
mod command_line;
mod config_file;
mod contract;
mod detection;
mod embedded;
mod environment;
mod exposition;
mod faults;
mod hostile_bodies;
mod hostile_connections;
mod journal;
mod lifecycle;
mod load;
mod logs;
mod losses;
mod message_actions;
mod metrics;
mod queue_actions;
mod queue_urls;
#[cfg(feature = "s3")]
mod s3;
mod sdk;
mod session;
mod signatures;
mod verification;
mod waiting;
mod wire;
