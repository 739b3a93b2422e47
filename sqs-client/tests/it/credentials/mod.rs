//! Every source of credentials against fakes over real HTTP: success, expiry, slow, refused, failing, garbage, gone.

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
