//! Authentication, ownership and faults, checked before the body of a request is read.

use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Error, S3ErrorCode, S3Result, s3_error};
use sqs_client::wire::sign::KeyLookup as _;

use super::state::{RequestInfo, RequestState};
use crate::s3::S3Action;
use crate::service::faults::{Faults, S3Target, S3Unapplied};
use crate::service::keys::Keys;

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
pub(super) struct Access {
    pub(super) faults: Faults,
    /// The account that owns all buckets.
    pub(super) account: String,
    /// Whether the server accepts requests with any signature or none.
    pub(super) allows_anonymous: bool,
}

#[async_trait::async_trait]
impl S3Access for Access {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let info = RequestInfo {
            operation: context.s3_op().name().to_owned(),
            bucket: context.s3_path().get_bucket_name().map(str::to_owned),
            key: context.s3_path().get_object_key().map(str::to_owned),
        };
        let state = context.extensions_mut().get::<RequestState>().cloned().unwrap_or_default();
        state.set_info(info.clone());
        if !self.allows_anonymous && context.credentials().is_none() {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        let expected = context.headers().get("x-amz-expected-bucket-owner");
        if expected.is_some_and(|owner| owner.as_bytes() != self.account.as_bytes()) {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        self.apply_faults(&info, &state).await
    }
}

impl Access {
    async fn apply_faults(&self, info: &RequestInfo, state: &RequestState) -> S3Result<()> {
        let target = S3Target {
            action: S3Action::from_name(&info.operation),
            bucket: info.bucket.as_deref(),
            key: info.key.as_deref(),
        };
        let plan = self.faults.plan_s3(&target);
        let (latency, unapplied) = (plan.latency, plan.unapplied.clone());
        state.set_plan(plan);
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        match unapplied {
            None => Ok(()),
            Some(S3Unapplied::Refused { code, message }) => Err(refused(&code, message)),
            // The front sends another response, or none.
            Some(S3Unapplied::Status(..) | S3Unapplied::Reset) => {
                Err(s3_error!(InternalError, "replaced by a fault"))
            }
        }
    }
}

fn refused(code: &str, message: String) -> S3Error {
    let code = S3ErrorCode::from_bytes(code.as_bytes()).unwrap_or(S3ErrorCode::InternalError);
    S3Error::with_message(code, message)
}
