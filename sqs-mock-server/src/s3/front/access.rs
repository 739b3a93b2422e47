//! Authentication, ownership and faults, checked before the body of a request is read.

use std::sync::Arc;

use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Error, S3ErrorCode, S3Result, s3_error};
use sqs_client::wire::sign::KeyLookup as _;

use crate::s3::host::Host;
use crate::s3::request_context::{RequestContext, RequestInfo};
use crate::s3::store::no_such_bucket;
use crate::service::faults::{Failure, Rejection, Request};
use crate::service::keys::Keys;
use crate::service::operation::ServiceName;
use crate::service::resource::Resource;

/// The access keys that the server accepts.
#[derive(Debug)]
pub(super) struct KnownKeys(pub(super) Keys);

#[async_trait::async_trait]
impl S3Auth for KnownKeys {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        let text = "The AWS Access Key Id you provided does not exist in our records.";
        let secret = self.0.secret(access_key).ok_or_else(|| s3_error!(InvalidAccessKeyId, "{text}"))?;
        Ok(SecretKey::from(secret))
    }
}

/// Checks each request once s3s knows its operation.
#[derive(Debug)]
pub(super) struct Access(pub(super) Arc<Host>);

#[async_trait::async_trait]
impl S3Access for Access {
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
        if self.0.names.keys.is_some() && context.credentials().is_none() {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        let expected = context.headers().get("x-amz-expected-bucket-owner");
        if expected.is_some_and(|owner| owner.as_bytes() != self.0.names.account.as_bytes()) {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        self.apply_faults(&request, info).await
    }
}

impl Access {
    async fn apply_faults(&self, request: &RequestContext, info: &RequestInfo) -> S3Result<()> {
        let host = &self.0;
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
