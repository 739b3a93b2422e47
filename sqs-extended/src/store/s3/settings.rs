//! What can be set of an [`S3Store`].

use std::fmt;

use aws_sdk_s3::types::{ObjectCannedAcl, StorageClass};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::S3Store;
use crate::store::{StoreError, StoreErrorKind};

/// The smallest part that S3 takes, but for the last one of an object.
const MIN_PART: usize = 5 << 20;
/// The largest.
const MAX_PART: usize = 5 << 30;

/// How objects are encrypted where they lie.
///
/// See [Protecting data with server-side encryption](https://docs.aws.amazon.com/AmazonS3/latest/userguide/serv-side-encryption.html).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Encryption {
    /// With keys of S3 (SSE-S3).
    S3,
    /// With a key of KMS (SSE-KMS).
    Kms {
        /// Id, alias or ARN of the key; the one of AWS for S3 when it is `None`.
        key: Option<String>,
        /// Names and values that KMS binds to the key's use and logs.
        context: Vec<(String, String)>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) encryption: Option<Encryption>,
    pub(super) acl: Option<ObjectCannedAcl>,
    pub(super) storage_class: Option<StorageClass>,
    pub(super) tags: Vec<(String, String)>,
    pub(super) owner: Option<String>,
    pub(super) part_size: usize,
    pub(super) in_flight: usize,
    pub(super) if_none_match: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            encryption: None,
            acl: None,
            storage_class: None,
            tags: Vec::new(),
            owner: None,
            part_size: 8 << 20,
            in_flight: 4,
            if_none_match: true,
        }
    }
}

impl Settings {
    /// The tags as a query, in which S3 wants them.
    pub(super) fn tagging(&self) -> Option<String> {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pairs: Vec<_> =
            self.tags.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        (!pairs.is_empty()).then(|| pairs.join("&"))
    }
}

/// Sets what an [`S3Store`] does; see [`S3Store::builder`].
#[derive(Clone)]
pub struct S3StoreBuilder {
    client: aws_sdk_s3::Client,
    bucket: String,
    settings: Settings,
}

impl S3StoreBuilder {
    pub(super) fn new(client: aws_sdk_s3::Client, bucket: String) -> Self {
        Self { client, bucket, settings: Settings::default() }
    }

    /// How objects are encrypted. By default the bucket decides.
    pub fn encryption(mut self, encryption: Encryption) -> Self {
        self.settings.encryption = Some(encryption);
        self
    }

    /// A canned ACL of the objects. None by default: buckets with ACLs switched off take none.
    pub fn acl(mut self, acl: ObjectCannedAcl) -> Self {
        self.settings.acl = Some(acl);
        self
    }

    /// The storage class of the objects. By default the one of S3, `STANDARD`.
    pub fn storage_class(mut self, class: StorageClass) -> Self {
        self.settings.storage_class = Some(class);
        self
    }

    /// A tag of the objects, for lifecycle rules and bills; at most 10.
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.tags.push((name.into(), value.into()));
        self
    }

    /// The account that has to own the buckets: 12 digits. S3 refuses everything (403) when another one does.
    pub fn expected_bucket_owner(mut self, account: impl Into<String>) -> Self {
        self.settings.owner = Some(account.into());
        self
    }

    /// The size of parts in bytes, 8 MiB by default, 5 MiB at least. What is not longer goes in one request. It grows for
    /// objects that are known to need more than 10,000 parts.
    pub fn part_size(mut self, bytes: usize) -> Self {
        self.settings.part_size = bytes;
        self
    }

    /// How many parts of one object are on their way at once, 4 by default. An upload holds one part more than that in memory.
    pub fn parts_in_flight(mut self, parts: usize) -> Self {
        self.settings.in_flight = parts;
        self
    }

    /// Whether S3 is asked to refuse a key that is taken (`If-None-Match: *`), which is the default. Some services with the
    /// protocol of S3 do not know it.
    pub fn refuse_overwrite(mut self, refuse: bool) -> Self {
        self.settings.if_none_match = refuse;
        self
    }

    /// Makes the store.
    ///
    /// # Errors
    /// [`StoreErrorKind::Refused`] when the size of parts or their number is out of range.
    pub fn build(self) -> Result<S3Store, StoreError> {
        let Settings { part_size, in_flight, .. } = self.settings;
        if !(MIN_PART..=MAX_PART).contains(&part_size) {
            let message = format!("parts of {part_size} bytes: S3 takes {MIN_PART} to {MAX_PART}");
            return Err(StoreError::new(StoreErrorKind::Refused, message));
        }
        if in_flight == 0 {
            return Err(StoreError::new(StoreErrorKind::Refused, "0 parts in flight: 1 is the least"));
        }
        Ok(S3Store::assemble(self.client, self.bucket, self.settings))
    }
}

impl fmt::Debug for S3StoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3StoreBuilder")
            .field("bucket", &self.bucket)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_a_query() {
        let tags = vec![("team".into(), "a&b = c".into()), ("x".into(), String::new())];
        let settings = Settings { tags, ..Settings::default() };
        assert_eq!(settings.tagging().as_deref(), Some("team=a%26b%20%3D%20c&x="));
        assert_eq!(Settings::default().tagging(), None);
    }
}
