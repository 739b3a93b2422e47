//! Who may pass, and what goes wrong for those who do.

use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Error, S3ErrorCode, S3Result, s3_error};
use sqs_client::wire::sign::KeyLookup as _;

use super::slot::{Asked, Slot};
use crate::faults::{Faults, S3Target, S3Unapplied};
use crate::http::Keys;
use crate::s3::S3Action;

/// The keys that may sign.
#[derive(Debug)]
pub(super) struct Guards(pub(super) Keys);

#[async_trait::async_trait]
impl S3Auth for Guards {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        let text = "The AWS Access Key Id you provided does not exist in our records.";
        let secret = self.0.secret(access_key).ok_or_else(|| s3_error!(InvalidAccessKeyId, "{text}"))?;
        Ok(SecretKey::from(secret))
    }
}

/// Sees each request once it is known what it asks for, and before its body is read.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) faults: Faults,
    /// Who all buckets belong to.
    pub(super) account: String,
    /// Whether anyone may call.
    pub(super) is_open: bool,
}

#[async_trait::async_trait]
impl S3Access for Gate {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let asked = Asked {
            operation: context.s3_op().name().to_owned(),
            bucket: context.s3_path().get_bucket_name().map(str::to_owned),
            key: context.s3_path().get_object_key().map(str::to_owned),
        };
        let slot = context.extensions_mut().get::<Slot>().cloned().unwrap_or_default();
        slot.ask(asked.clone());
        if !self.is_open && context.credentials().is_none() {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        let expected = context.headers().get("x-amz-expected-bucket-owner");
        if expected.is_some_and(|owner| owner.as_bytes() != self.account.as_bytes()) {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        self.strike(&asked, &slot).await
    }
}

impl Gate {
    async fn strike(&self, asked: &Asked, slot: &Slot) -> S3Result<()> {
        let target = S3Target {
            action: S3Action::from_name(&asked.operation),
            bucket: asked.bucket.as_deref(),
            key: asked.key.as_deref(),
        };
        let plan = self.faults.plan_s3(&target);
        let (latency, unapplied) = (plan.latency, plan.unapplied.clone());
        slot.decide(plan);
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        match unapplied {
            None => Ok(()),
            Some(S3Unapplied::Refused { code, message }) => Err(refused(&code, message)),
            // The front has another answer, or none.
            Some(S3Unapplied::Status(..) | S3Unapplied::Reset) => {
                Err(s3_error!(InternalError, "a fault decides otherwise"))
            }
        }
    }
}

fn refused(code: &str, message: String) -> S3Error {
    let code = S3ErrorCode::from_bytes(code.as_bytes()).unwrap_or(S3ErrorCode::InternalError);
    S3Error::with_message(code, message)
}
