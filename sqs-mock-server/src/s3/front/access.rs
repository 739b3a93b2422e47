//! What s3s asks about the head of a request: the bucket in its host, keys, ownership and faults.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::request::Parts;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::host::{S3Host, VirtualHost};
use s3s::{S3Error, S3ErrorCode, S3Result, s3_error};
use sqs_client::wire::sign::KeyLookup as _;

use crate::s3::store::{Store, no_such_bucket};
use crate::s3::{Host, RequestContext, RequestInfo};
use crate::service::faults::{Failure, Rejection, Request};
use crate::service::operation::ServiceName;
use crate::service::resource::Resource;

/// Answers the questions of s3s about the head of a request.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) host: Arc<Host>,
    pub(super) store: Arc<Store>,
}

/// Accepts any host name of the server. `<bucket>.<any host>` names a bucket that exists, `<bucket>.localhost` names
/// any bucket. For all other hosts the bucket is in the path.
impl S3Host for Gate {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let labels = name.match_indices('.').filter_map(|(at, _)| name.get(..at));
        let existing = labels.rev().find(|name| self.store.bucket(name).is_some());
        let server = VirtualHost::new(host);
        Ok(match existing.or_else(|| of_localhost(name)) {
            Some(bucket) => server.with_bucket(bucket),
            None => server,
        })
    }
}

fn of_localhost(name: &str) -> Option<&str> {
    let bucket = name.strip_suffix(".localhost")?;
    let bucket = bucket.strip_suffix(".s3").unwrap_or(bucket);
    (bucket != "s3").then_some(bucket)
}

#[async_trait::async_trait]
impl S3Auth for Gate {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        let text = "The AWS Access Key Id you provided does not exist in our records.";
        let secret = self.host.names.keys.as_ref().and_then(|keys| keys.secret(access_key));
        Ok(SecretKey::from(secret.ok_or_else(|| s3_error!(InvalidAccessKeyId, "{text}"))?))
    }
}

/// Checks each request once s3s knows its operation.
#[async_trait::async_trait]
impl S3Access for Gate {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let info = RequestInfo {
            operation: context.s3_op().name().to_owned(),
            resource: Resource::in_s3(
                context.s3_path().get_bucket_name(),
                context.s3_path().get_object_key(),
            ),
        };
        let request = RequestContext::of(context.extensions_mut());
        let info = request.info.get_or_init(|| info);
        let names = &self.host.names;
        let is_anonymous = names.keys.is_some() && context.credentials().is_none();
        let owner = context.headers().get("x-amz-expected-bucket-owner");
        if is_anonymous || owner.is_some_and(|owner| owner.as_bytes() != names.account.as_bytes()) {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        self.apply_faults(&request, info).await
    }
}

impl Gate {
    async fn apply_faults(&self, request: &RequestContext, info: &RequestInfo) -> S3Result<()> {
        let host = &self.host;
        let plan = host.faults.plan(|| Request {
            service: ServiceName::S3,
            operation: &info.operation,
            resource: info.resource.clone(),
            account: &host.names.account,
            region: &host.names.region,
            time: host.clock.now(),
            entries: Vec::new(),
            can_redeliver: false,
        });
        if !host.faults.delays().delay(plan.latency).await {
            // The client does not retry this error.
            return Err(no_such_bucket());
        }
        match &request.plan.get_or_init(|| plan).rejection {
            None => Ok(()),
            Some(Rejection::Error(failure)) => Err(error(failure)),
            // The front sends another response, or none.
            Some(Rejection::Status(..) | Rejection::Reset) => {
                Err(s3_error!(InternalError, "replaced by a fault"))
            }
        }
    }
}

/// The error of a fault. S3 has its own error code for too many requests.
fn error(failure: &Failure) -> S3Error {
    let (code, message) = match failure.code.as_deref() {
        None | Some("RequestThrottled") => ("SlowDown", "Please reduce your request rate."),
        Some(code) => (code, "This failure was injected."),
    };
    let code = S3ErrorCode::from_bytes(code.as_bytes()).unwrap_or(S3ErrorCode::InternalError);
    S3Error::with_message(code, failure.message.clone().unwrap_or_else(|| message.to_owned()))
}

/// Removes the signature from the head of a request, for servers that accept any credentials: s3s rejects signatures that
/// it cannot verify.
pub(super) fn strip_signature(head: &mut Parts) {
    head.headers.remove(AUTHORIZATION);
    let Some(query) = head.uri.query() else { return };
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
    if !query.split('&').any(|pair| ["x-amz-signature", "signature"].contains(&name(pair).as_str())) {
        return;
    }
    // Of signature versions 4 and 2.
    let is_signature = |name: String| {
        name.starts_with("x-amz-") || ["awsaccesskeyid", "expires", "signature"].contains(&name.as_str())
    };
    let kept: Vec<_> = query.split('&').filter(|pair| !is_signature(name(pair))).collect();
    let path = head.uri.path();
    let uri = if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) };
    // Parsing cannot fail: the text is a part of a valid URI.
    if let Ok(uri) = uri.parse() {
        head.uri = uri;
    }
}
