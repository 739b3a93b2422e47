//! The extended client on the embedded server and a store in memory, without a socket, under tokio's paused clock.

mod actions;
mod buffered;
mod cleanup;
mod leases;
mod receiving;
mod rig;
mod schedules;
mod sending;
mod settling;
mod sizes;
mod sweeping;
mod wire;
