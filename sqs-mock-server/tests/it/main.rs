//! The server from outside: over sockets, in process, and as a binary.

mod accept;
mod admin;
mod admin_clock;
mod auto_create;
mod bounds;
mod callers;
mod command_line;
mod contract;
mod detection;
mod embedded;
mod faults;
mod hostile_bodies;
mod hostile_connections;
mod lifecycle;
mod message_actions;
mod queue_actions;
mod queue_urls;
mod sdk;
mod session;
mod signatures;
mod wire;
