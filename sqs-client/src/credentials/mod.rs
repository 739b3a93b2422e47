//! Credentials: from the environment, from code, or from any provider of the AWS SDK; kept until they expire.

mod cache;
mod environment;

pub(crate) use cache::CredentialsCache;
pub use environment::EnvironmentCredentials;
