//! The buffered client on the embedded server, without a socket, under tokio's paused clock.

mod acknowledge;
mod admission;
mod attempts;
mod bad_use;
mod closing;
mod events;
mod faults;
mod fifo;
mod receive;
mod rig;
mod sending;
