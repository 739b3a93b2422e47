//! x
pub mod checksum;
pub mod protocol;
pub mod limits;
pub mod operation;
pub mod service_error;
pub mod types;
/// X
pub struct Client;
