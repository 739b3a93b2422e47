//! The server from outside: over sockets, in process, and as a binary.

mod accept;
mod bounds;
mod callers;
mod command_line;
mod config_file;
mod detection;
mod embedded;
mod exposition;
mod hostile_bodies;
mod hostile_connections;
mod lifecycle;
mod logs;
mod message_actions;
mod metrics;
mod queue_actions;
mod sdk;
mod session;
mod signatures;
mod wire;
