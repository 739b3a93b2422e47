//! Encryption at rest. Nothing is encrypted here; the attributes behave as on AWS.

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::{Requested, flag, number};

/// Maximum length of a KMS key id: <https://docs.aws.amazon.com/kms/latest/APIReference/API_DescribeKey.html>
const MAX_KEY_BYTES: usize = 2048;

/// `KmsMasterKeyId`, `KmsDataKeyReusePeriodSeconds` and `SqsManagedSseEnabled`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Encryption {
    /// Id, ARN or alias of a KMS key.
    pub kms_key: Option<Box<str>>,
    /// How long a data key is reused, in seconds, if this was set together with a key.
    pub reuse_seconds: Option<u32>,
    /// Whether SQS encrypts with its own keys.
    pub managed: bool,
}

impl Default for Encryption {
    fn default() -> Self {
        Self { kms_key: None, reuse_seconds: None, managed: true }
    }
}

impl Encryption {
    /// A request can enable only one of the two kinds of encryption.
    pub(super) fn check(requested: &Requested) -> Result<(), ServiceError> {
        let kms = requested.get(&Name::KmsMasterKeyId).is_some_and(|key| !key.is_empty());
        let managed =
            requested.get(&Name::SqsManagedSseEnabled).is_some_and(|value| flag(value) == Some(true));
        if kms && managed {
            let text = "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS \
                        SSE or SQS SSE.";
            return Err(ServiceError::new(ErrorCode::InvalidAttributeName, text));
        }
        Ok(())
    }

    /// A key turns managed encryption off. Removing the key does not turn it on again.
    pub(super) fn set_key(&mut self, key: &str) -> Option<()> {
        if key.len() > MAX_KEY_BYTES {
            return None;
        }
        self.kms_key = (!key.is_empty()).then(|| key.into());
        self.managed &= self.kms_key.is_none();
        Some(())
    }

    pub(super) fn set_reuse(&mut self, value: &str) -> Option<()> {
        self.reuse_seconds = Some(number(value, &limits::KMS_REUSE_SECONDS)?);
        Some(())
    }

    pub(super) fn set_managed(&mut self, value: &str) -> Option<()> {
        self.managed = flag(value)?;
        if self.managed {
            self.kms_key = None;
        }
        Some(())
    }

    pub(super) fn forget_reuse_without_key(&mut self) {
        self.reuse_seconds = self.reuse_seconds.filter(|_| self.kms_key.is_some());
    }
}
