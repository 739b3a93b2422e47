//! Credentials providers, one per source. [`CredentialsChain`] tries them in AWS's order.
//!
//! ```text
//! CredentialsSource -> CredentialsCache -> CredentialsChain -> variables | profile | web identity | container | instance metadata
//!                                                                            |          |             |           |
//!                                                                           STS        STS            exchange (HTTP, bounded)
//! ```

mod answer;
mod cache;
mod chain;
mod container;
mod environment;
mod exchange;
mod failure;
mod instance;
mod presence;
mod process;
mod profile;
mod role_chain;
mod source;
mod sts;
mod sts_xml;
mod variables;
mod web_identity;

pub(crate) use cache::same;
pub use chain::CredentialsChain;
pub use container::ContainerCredentials;
pub(crate) use environment::EndpointVariant;
pub use environment::Environment;
pub use instance::InstanceCredentials;
pub use process::ProcessCredentials;
pub use profile::ProfileCredentials;
pub(crate) use source::CredentialsSource;
pub use variables::EnvironmentCredentials;
pub use web_identity::WebIdentityCredentials;
