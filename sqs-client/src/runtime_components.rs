//! Runtime components for HTTP clients and identity caches of the AWS SDK.
//!
//! They use only the clock and the timer. The type requires the other components too; those fail if used.

use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_async::time::SharedTimeSource;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::auth::{
    AuthScheme, AuthSchemeEndpointConfig, AuthSchemeId, AuthSchemeOptionResolverParams,
    AuthSchemeOptionsFuture, ResolveAuthSchemeOptions, Sign,
};
use aws_smithy_runtime_api::client::endpoint::{EndpointFuture, EndpointResolverParams, ResolveEndpoint};
use aws_smithy_runtime_api::client::identity::{
    Identity, IdentityFuture, ResolveCachedIdentity, ResolveIdentity, SharedIdentityResolver,
};
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::retries::{RetryStrategy, ShouldAttempt};
use aws_smithy_runtime_api::client::runtime_components::{
    BuildError, GetIdentityResolver, RuntimeComponents, RuntimeComponentsBuilder,
};
use aws_smithy_types::config_bag::ConfigBag;

/// Runtime components with this clock and timer. Without a timer, uses tokio's.
///
/// # Errors
/// This version of `aws-smithy-runtime-api` requires a component that is missing here.
pub(crate) fn runtime_components(
    time_source: SharedTimeSource,
    sleep: Option<SharedAsyncSleep>,
) -> Result<RuntimeComponents, BuildError> {
    let sleep = sleep.unwrap_or_else(|| SharedAsyncSleep::new(TokioSleep::new()));
    RuntimeComponentsBuilder::new("sqs-client")
        .with_time_source(Some(time_source))
        .with_sleep_impl(Some(sleep))
        .with_auth_scheme_option_resolver(Some(Unused))
        .with_auth_scheme(Unused)
        .with_endpoint_resolver(Some(Unused))
        .with_identity_cache(Some(Unused))
        .with_identity_resolver(Unused::SCHEME, Unused)
        .with_retry_strategy(Some(Unused))
        .build()
}

/// Stands for each component that is required but not supported.
#[derive(Debug)]
struct Unused;

impl Unused {
    const SCHEME: AuthSchemeId = AuthSchemeId::new("sqs-client");

    fn unsupported<T>() -> Result<T, BoxError> {
        Err("unsupported runtime component: sqs-client provides a clock and a timer only".into())
    }
}

impl ResolveAuthSchemeOptions for Unused {
    fn resolve_auth_scheme_options_v2<'a>(
        &'a self,
        _: &'a AuthSchemeOptionResolverParams,
        _: &'a ConfigBag,
        _: &'a RuntimeComponents,
    ) -> AuthSchemeOptionsFuture<'a> {
        AuthSchemeOptionsFuture::ready(Self::unsupported())
    }
}

impl AuthScheme for Unused {
    fn scheme_id(&self) -> AuthSchemeId {
        Self::SCHEME
    }

    fn identity_resolver(&self, _: &dyn GetIdentityResolver) -> Option<SharedIdentityResolver> {
        None
    }

    fn signer(&self) -> &dyn Sign {
        self
    }
}

impl Sign for Unused {
    fn sign_http_request(
        &self,
        _: &mut HttpRequest,
        _: &Identity,
        _: AuthSchemeEndpointConfig<'_>,
        _: &RuntimeComponents,
        _: &ConfigBag,
    ) -> Result<(), BoxError> {
        Self::unsupported()
    }
}

impl ResolveEndpoint for Unused {
    fn resolve_endpoint<'a>(&'a self, _: &'a EndpointResolverParams) -> EndpointFuture<'a> {
        EndpointFuture::ready(Self::unsupported())
    }
}

impl ResolveIdentity for Unused {
    fn resolve_identity<'a>(&'a self, _: &'a RuntimeComponents, _: &'a ConfigBag) -> IdentityFuture<'a> {
        IdentityFuture::ready(Self::unsupported())
    }
}

impl ResolveCachedIdentity for Unused {
    fn resolve_cached_identity<'a>(
        &'a self,
        _: SharedIdentityResolver,
        _: &'a RuntimeComponents,
        _: &'a ConfigBag,
    ) -> IdentityFuture<'a> {
        IdentityFuture::ready(Self::unsupported())
    }
}

impl RetryStrategy for Unused {
    fn should_attempt_initial_request(
        &self,
        _: &RuntimeComponents,
        _: &ConfigBag,
    ) -> Result<ShouldAttempt, BoxError> {
        Self::unsupported()
    }

    fn should_attempt_retry(
        &self,
        _: &InterceptorContext,
        _: &RuntimeComponents,
        _: &ConfigBag,
    ) -> Result<ShouldAttempt, BoxError> {
        Self::unsupported()
    }
}
