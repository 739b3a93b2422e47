//! Tests of the public interfaces: over sockets, in process, and of the binary.
//!
//! Modules that run the binary need its feature `cli`, which includes `config-file`.

mod accept;
mod admin;
mod admin_clock;
mod admin_queues;
mod admin_wait;
mod auto_create;
mod backdoor;
mod bounds;
mod browsers;
mod callers;
#[cfg(feature = "cli")]
mod command_line;
mod compat;
#[cfg(feature = "cli")]
mod config_file;
mod console;
mod contract;
#[rustfmt::skip]
mod copied;
#[cfg(all(unix, feature = "cli"))]
mod data_directory;
mod detection;
mod embedded;
#[cfg(feature = "cli")]
mod environment;
#[cfg(feature = "explore")]
mod explore;
#[cfg(all(unix, feature = "cli"))]
mod explore_command;
mod exposition;
mod faults;
#[cfg(feature = "cli")]
mod healthcheck;
mod hook;
mod hostile_bodies;
mod hostile_connections;
mod journal;
#[cfg(all(unix, feature = "cli"))]
mod kills;
mod lifecycle;
mod load;
#[cfg(feature = "cli")]
mod logs;
mod losses;
mod message_actions;
mod metrics;
mod policies;
mod queue_actions;
mod queue_urls;
#[cfg(feature = "cli")]
mod quota_settings;
mod quotas;
mod roles;
#[cfg(feature = "s3")]
mod s3;
mod sdk;
mod session;
mod signatures;
mod sns;
mod strict;
#[cfg(feature = "tls")]
mod tls;
mod triggers;
mod verification;
mod waiting;
mod wire;
