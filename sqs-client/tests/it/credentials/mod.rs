//! All credentials sources against fake services over real HTTP: success, expiry, timeouts, errors and invalid responses.

mod chain;
mod container;
mod instance;
mod process;
mod profile;
mod renewal;
mod rig;
mod role;
mod secrets;
mod settings;
mod web_identity;
