//! The server from outside: over sockets, in process, and as a binary.

mod accept;
mod admin;
mod admin_clock;
mod admin_queues;
mod admin_wait;
mod backdoor;
mod bounds;
mod callers;
mod command_line;
mod detection;
mod embedded;
mod hostile_bodies;
mod hostile_connections;
mod journal;
mod lifecycle;
mod message_actions;
mod queue_actions;
mod sdk;
mod session;
mod signatures;
mod verification;
mod waiting;
mod wire;
