//! Credentials providers, one per source. [`CredentialsChain`] tries them in AWS's order.
//!
//! ```text
//! CredentialsCache -> CredentialsChain -> variables | profile | web identity | container | instance metadata
//!                                                       |          |             |           |
//!                                                      STS        STS            exchange (HTTP, bounded)
//! ```

mod answer;
mod cache;
mod chain;
mod container;
mod environment;
mod exchange;
mod failure;
mod instance;
mod process;
mod profile;
mod role_chain;
mod sts;
mod sts_xml;
mod variables;
mod web_identity;

pub(crate) use cache::CredentialsCache;
pub use chain::CredentialsChain;
pub use container::ContainerCredentials;
pub use environment::Environment;
pub use instance::InstanceCredentials;
pub use process::ProcessCredentials;
pub use profile::ProfileCredentials;
pub use variables::EnvironmentCredentials;
pub use web_identity::WebIdentityCredentials;
