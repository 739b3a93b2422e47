//! The client and its 23 operations.

pub mod customize;

use std::sync::Arc;

use aws_types::SdkConfig;

use super::config::{Builder, Config};
use super::error::{SdkError, TypedOperation, sdk_error};
use crate::client::Call;
use crate::error::BuildError;
use crate::types::FluentBuilder;
use crate::wire::model::for_each_operation;

/// A client with the methods, settings and errors of `aws_sdk_sqs::Client`.
///
/// It wraps the plain client ([`as_plain`](Self::as_plain)). Cloning is cheap, and clones share connections, credentials
/// and the retry budget.
#[derive(Clone, Debug)]
pub struct Client {
    plain: crate::Client,
    config: Arc<Config>,
}

impl Client {
    /// A client with the configuration that `aws-config` loaded, including its HTTP client and identity cache.
    pub fn new(config: &SdkConfig) -> Self {
        Self::from_conf(config.into())
    }

    /// A client with this configuration. If a setting is missing, such as the region, calls fail with an error that names
    /// it.
    pub fn from_conf(config: Config) -> Self {
        Self { plain: crate::Client::from_conf(config.settings().to_plain()), config: Arc::new(config) }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The wrapped plain client, for layers. It shares connections and credentials with this one.
    pub fn as_plain(&self) -> &crate::Client {
        &self.plain
    }

    /// This client with other settings, for customized calls.
    pub(super) fn with_override(&self, settings: Builder) -> Self {
        let settings = settings.into_settings();
        let config = Config::from_settings(self.config.settings().overridden_by(&settings));
        let transport = if settings.keeps_http_client() { None } else { config.settings().transport() };
        let plain = config.settings().apply_to(self.plain.config().to_builder(), transport);
        let plain = self.plain.with_config(plain, settings.keeps_credentials());
        Self { plain, config: Arc::new(config) }
    }
}

/// The new client keeps the settings of the plain one and shares its connections.
impl From<crate::Client> for Client {
    fn from(plain: crate::Client) -> Self {
        let config = Arc::new(Config::from(plain.config().clone()));
        Self { plain, config }
    }
}

impl<O: TypedOperation> Call<O> for Client {
    type Error = SdkError<O::Error>;

    async fn call(&self, input: &O::Input) -> Result<O::Output, SdkError<O::Error>> {
        let result = Call::<O>::call(&self.plain, input).await;
        result.map_err(|error| sdk_error(error, self.config.timeout_config()))
    }

    fn invalid_input(error: BuildError) -> SdkError<O::Error> {
        SdkError::from(error)
    }
}

macro_rules! actions {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $sums:tt, $doc:literal; )*) => { pastey::paste! {
        /// The 23 operations.
        impl Client {
            $(
                #[doc = $doc]
                pub fn $module(&self) -> FluentBuilder<crate::operation::$module::builders::[<$op InputBuilder>], Self> {
                    FluentBuilder::new(self.clone())
                }
            )*
        }
    } };
}

for_each_operation!(actions);
