//! Receivers and consumers.

mod bad_use;
mod consumer;
mod dead_letters;
mod fifo;
mod leases;
mod receiver;
mod rig;
mod schedules;
mod shutdown;
mod threads;
