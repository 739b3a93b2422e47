//! Settings of an [`S3Store`].

use std::collections::HashMap;
use std::fmt;

use aws_sdk_s3::types::{ObjectCannedAcl, StorageClass};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::{Error, ErrorKind};
use crate::store::s3::{Checksum, S3Store};

/// The smallest part of S3, except the last of an object.
const MIN_PART: usize = 5 << 20;

/// The largest part of S3.
const MAX_PART: usize = 5 << 30;

/// How S3 encrypts objects.
///
/// See [Protecting data with server-side encryption](https://docs.aws.amazon.com/AmazonS3/latest/userguide/serv-side-encryption.html).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Encryption {
    /// With keys of S3 (SSE-S3).
    S3,
    /// With a KMS key (SSE-KMS).
    Kms {
        /// Id, alias or ARN of the key. `None`: the AWS managed key for S3.
        key: Option<String>,
        /// The encryption context: names and values.
        context: Vec<(String, String)>,
    },
    /// Two layers, with a KMS key (DSSE-KMS).
    KmsDsse {
        /// Id, alias or ARN of the key. `None`: the AWS managed key for S3.
        key: Option<String>,
        /// The encryption context: names and values.
        context: Vec<(String, String)>,
    },
}

/// The access to a bucket other than the store's own; see [`S3StoreBuilder::other_bucket`].
#[derive(Clone, Debug, Default)]
pub struct S3Access {
    pub(crate) client: Option<aws_sdk_s3::Client>,
    pub(crate) owner: Option<String>,
}

impl S3Access {
    /// Access with the client of the store. Any account may own the bucket.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the client, for example for another region or account.
    pub fn client(mut self, client: aws_sdk_s3::Client) -> Self {
        self.client = Some(client);
        self
    }

    /// Sets the account that must own the bucket: 12 digits. Otherwise S3 denies access (403).
    pub fn expected_bucket_owner(mut self, account: impl Into<String>) -> Self {
        self.owner = Some(account.into());
        self
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) encryption: Option<Encryption>,
    pub(crate) bucket_key: Option<bool>,
    pub(crate) acl: Option<ObjectCannedAcl>,
    pub(crate) storage_class: Option<StorageClass>,
    tags: Vec<(String, String)>,
    pub(crate) owner: Option<String>,
    pub(crate) others: HashMap<String, S3Access>,
    pub(crate) checksum: Checksum,
    pub(crate) part_size: usize,
    pub(crate) in_flight: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            encryption: None,
            bucket_key: None,
            acl: None,
            storage_class: None,
            tags: Vec::new(),
            owner: None,
            others: HashMap::new(),
            checksum: Checksum::default(),
            part_size: 8 << 20,
            in_flight: 4,
        }
    }
}

impl Settings {
    /// The tags as a query string, as S3 expects them.
    pub(crate) fn tagging(&self) -> Option<String> {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pairs: Vec<_> =
            self.tags.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        (!pairs.is_empty()).then(|| pairs.join("&"))
    }
}

/// Settings of an [`S3Store`]; see [`S3Store::builder`].
#[derive(Clone)]
pub struct S3StoreBuilder {
    client: aws_sdk_s3::Client,
    bucket: String,
    settings: Settings,
}

impl S3StoreBuilder {
    pub(crate) fn new(client: aws_sdk_s3::Client, bucket: String) -> Self {
        Self { client, bucket, settings: Settings::default() }
    }

    /// Sets the encryption of new objects. The default is that of the bucket.
    pub fn encryption(mut self, encryption: Encryption) -> Self {
        self.settings.encryption = Some(encryption);
        self
    }

    /// Sets whether S3 uses a [bucket key](https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html), which saves
    /// requests to KMS. The default is that of the bucket.
    pub fn bucket_key(mut self, enabled: bool) -> Self {
        self.settings.bucket_key = Some(enabled);
        self
    }

    /// Sets a canned ACL for new objects. There is none by default, since buckets with disabled ACLs reject them. Needs the permission
    /// `s3:PutObjectAcl`.
    pub fn acl(mut self, acl: ObjectCannedAcl) -> Self {
        self.settings.acl = Some(acl);
        self
    }

    /// Sets the storage class of new objects: `STANDARD` by default.
    pub fn storage_class(mut self, class: StorageClass) -> Self {
        self.settings.storage_class = Some(class);
        self
    }

    /// Adds a tag to new objects, for lifecycle rules and cost allocation. At most 10. Needs the permission `s3:PutObjectTagging`.
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.tags.push((name.into(), value.into()));
        self
    }

    /// Sets the account that must own the store's bucket: 12 digits. Otherwise S3 denies access (403).
    pub fn expected_bucket_owner(mut self, account: impl Into<String>) -> Self {
        self.settings.owner = Some(account.into());
        self
    }

    /// Sets the access to another bucket that received pointers may name (see
    /// [`allow_bucket`](crate::settings::ExtendedClientBuilder::allow_bucket)). By default, the client of the store is used, and
    /// any account may own the bucket. For the store's own bucket, use
    /// [`expected_bucket_owner`](Self::expected_bucket_owner).
    pub fn other_bucket(mut self, bucket: impl Into<String>, access: S3Access) -> Self {
        self.settings.others.insert(bucket.into(), access);
        self
    }

    /// Sets the checksum of uploads: CRC-32 by default.
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.settings.checksum = checksum;
        self
    }

    /// Sets the size of parts in bytes: 8 MiB by default, 5 MiB to 5 GiB. Smaller objects are uploaded in one request.
    /// The size grows for objects of known length that need more than 10,000 parts.
    pub fn part_size(mut self, bytes: usize) -> Self {
        self.settings.part_size = bytes;
        self
    }

    /// Sets how many parts of an object are uploaded at a time: 4 by default, at least 1. An upload holds one more part
    /// in memory.
    pub fn parts_in_flight(mut self, parts: usize) -> Self {
        self.settings.in_flight = parts;
        self
    }

    /// Builds the store.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the part size or the number of parts is out of range, or if `other_bucket` names the store's own
    /// bucket.
    pub fn build(self) -> Result<S3Store, Error> {
        let Settings { part_size, in_flight, .. } = self.settings;
        if self.settings.others.contains_key(&self.bucket) {
            let text = format!(
                "other_bucket({:?}) is the store's own bucket; set its owner with expected_bucket_owner",
                self.bucket
            );
            return Err(Error::new(ErrorKind::Config, text));
        }
        if !(MIN_PART..=MAX_PART).contains(&part_size) {
            let text = format!("part_size is {part_size} bytes; allowed are {MIN_PART} to {MAX_PART}");
            return Err(Error::new(ErrorKind::Config, text));
        }
        if in_flight == 0 {
            return Err(Error::new(ErrorKind::Config, "parts_in_flight is 0; allowed is at least 1"));
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
    fn tags_are_url_encoded() {
        let tags = vec![("team".into(), "a&b = c".into()), ("x".into(), String::new())];
        let settings = Settings { tags, ..Settings::default() };
        assert_eq!(settings.tagging().as_deref(), Some("team=a%26b%20%3D%20c&x="));
        assert_eq!(Settings::default().tagging(), None);
    }
}
