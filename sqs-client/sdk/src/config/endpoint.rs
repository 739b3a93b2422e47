//! Endpoint resolvers with the names of aws-sdk-sqs.

use std::error::Error as StdError;
use std::fmt;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::endpoint::{EndpointResolverParams, ResolveEndpoint as ResolveErased};

pub use aws_smithy_runtime_api::client::endpoint::{EndpointFuture, SharedEndpointResolver};
pub use aws_smithy_types::endpoint::Endpoint;

/// Resolves the endpoint of a call.
///
/// The URL of the endpoint is used for each request of the call. Its headers and properties are not.
pub trait ResolveEndpoint: Send + Sync + fmt::Debug {
    /// Resolves an endpoint. If it fails, the call fails with a dispatch failure, and nothing is sent.
    fn resolve_endpoint<'a>(&'a self, params: &'a Params) -> EndpointFuture<'a>;

    /// Converts into a resolver for [`set_endpoint_resolver`](super::Builder::set_endpoint_resolver).
    fn into_shared_resolver(self) -> SharedEndpointResolver
    where
        Self: Sized + 'static,
    {
        SharedEndpointResolver::new(Erased(self))
    }
}

/// A resolver that finds the [`Params`] in erased parameters.
#[derive(Debug)]
struct Erased<T>(T);

impl<T: ResolveEndpoint> ResolveErased for Erased<T> {
    fn resolve_endpoint<'a>(&'a self, params: &'a EndpointResolverParams) -> EndpointFuture<'a> {
        match params.get::<Params>() {
            Some(params) => self.0.resolve_endpoint(params),
            None => EndpointFuture::ready(Err("the endpoint parameters are not those of this crate".into())),
        }
    }
}

/// Resolves the endpoints that AWS documents, or the configured endpoint URL.
///
/// It fails if there is neither a region nor an endpoint URL, if one of them is invalid, or if an endpoint URL is combined with FIPS
/// or dual stack.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DefaultResolver;

impl DefaultResolver {
    /// The default resolver.
    pub fn new() -> Self {
        Self
    }

    fn resolve(params: &Params) -> Result<Endpoint, BoxError> {
        let mut config =
            sqs_client::Config::builder().use_fips(params.use_fips).use_dual_stack(params.use_dual_stack);
        config
            .set_region(params.region.clone().map(sqs_client::config::Region::new))
            .set_endpoint_url(params.endpoint.clone());
        Ok(Endpoint::builder().url(config.build().resolved_url()?).build())
    }
}

impl ResolveEndpoint for DefaultResolver {
    fn resolve_endpoint<'a>(&'a self, params: &'a Params) -> EndpointFuture<'a> {
        EndpointFuture::ready(Self::resolve(params))
    }
}

/// The parameters of an endpoint. `Debug` shows neither password nor query of a URL.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Params {
    region: Option<String>,
    use_dual_stack: bool,
    use_fips: bool,
    endpoint: Option<String>,
}

impl Params {
    /// A builder without region and endpoint URL.
    pub fn builder() -> ParamsBuilder {
        ParamsBuilder::default()
    }

    /// The region.
    pub fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }

    /// Whether the dual-stack endpoint is requested.
    pub fn use_dual_stack(&self) -> Option<bool> {
        Some(self.use_dual_stack)
    }

    /// Whether the FIPS endpoint is requested.
    pub fn use_fips(&self) -> Option<bool> {
        Some(self.use_fips)
    }

    /// The endpoint URL.
    pub fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Params")
            .field("region", &self.region)
            .field("use_dual_stack", &self.use_dual_stack)
            .field("use_fips", &self.use_fips)
            .field("endpoint", &self.endpoint.as_deref().map(sqs_client::config::redacted))
            .finish()
    }
}

/// Builds [`Params`].
#[derive(Clone, Default, Eq, PartialEq)]
pub struct ParamsBuilder {
    region: Option<String>,
    use_dual_stack: Option<bool>,
    use_fips: Option<bool>,
    endpoint: Option<String>,
}

impl ParamsBuilder {
    /// Sets the region.
    pub fn region(mut self, value: impl Into<String>) -> Self {
        self.region = Some(value.into());
        self
    }

    /// Sets or clears the region.
    pub fn set_region(mut self, param: Option<String>) -> Self {
        self.region = param;
        self
    }

    /// Requests the dual-stack endpoint.
    pub fn use_dual_stack(mut self, value: impl Into<bool>) -> Self {
        self.use_dual_stack = Some(value.into());
        self
    }

    /// Sets or clears whether the dual-stack endpoint is requested.
    pub fn set_use_dual_stack(mut self, param: Option<bool>) -> Self {
        self.use_dual_stack = param;
        self
    }

    /// Requests the FIPS endpoint.
    pub fn use_fips(mut self, value: impl Into<bool>) -> Self {
        self.use_fips = Some(value.into());
        self
    }

    /// Sets or clears whether the FIPS endpoint is requested.
    pub fn set_use_fips(mut self, param: Option<bool>) -> Self {
        self.use_fips = param;
        self
    }

    /// Sets the endpoint URL.
    pub fn endpoint(mut self, value: impl Into<String>) -> Self {
        self.endpoint = Some(value.into());
        self
    }

    /// Sets or clears the endpoint URL.
    pub fn set_endpoint(mut self, param: Option<String>) -> Self {
        self.endpoint = param;
        self
    }

    /// Builds the parameters.
    ///
    /// # Errors
    /// None: the type is that of aws-sdk-sqs.
    pub fn build(self) -> Result<Params, InvalidParams> {
        Ok(self.built())
    }

    pub(super) fn built(self) -> Params {
        let Self { region, use_dual_stack, use_fips, endpoint } = self;
        Params {
            region,
            use_dual_stack: use_dual_stack.unwrap_or_default(),
            use_fips: use_fips.unwrap_or_default(),
            endpoint,
        }
    }
}

impl fmt::Debug for ParamsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ParamsBuilder").field(&self.clone().built()).finish()
    }
}

/// The parameters are invalid.
#[derive(Debug)]
pub struct InvalidParams(std::convert::Infallible);

impl fmt::Display for InvalidParams {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

impl StdError for InvalidParams {}
