//! Writing: one request for what fits into one part, whose hash is known before it is sent.

use base64_simd::STANDARD;

use super::attempts::Attempts;
use super::chain;
use super::error::{Asked, What};
use super::object::{About, describe};
use super::part::Part;
use super::source::Source;
use super::{S3Store, Upload};
use crate::pointer::Pointer;
use crate::store::{StoreError, StoreErrorKind};

impl S3Store {
    pub(super) async fn write(&self, at: &Pointer, upload: Upload) -> Result<(), StoreError> {
        let Upload { body, length, content_type, content_encoding, metadata } = upload;
        let mut about = About::new(content_type, content_encoding, metadata);
        let mut source = Source::new(body, length, self.settings().part_size);
        let first = source.part().await?.unwrap_or_default();
        if source.is_done() {
            let hash = first.sha256().await;
            about.name_hash(&hash);
            self.put_object(at, &about, &first, hash).await
        } else {
            self.put_parts(at, about, first, source).await
        }
    }

    async fn put_object(
        &self,
        at: &Pointer,
        about: &About,
        part: &Part,
        sha256: [u8; 32],
    ) -> Result<(), StoreError> {
        let attempts = Attempts::default();
        let request = describe!(self.client().put_object(), self, at, about)
            .set_if_none_match(self.if_none_match())
            .content_length(length(part))
            .checksum_sha256(STANDARD.encode_to_string(sha256))
            .body(chain::body(part));
        match request.customize().interceptor(attempts.clone()).send().await {
            Ok(_) => Ok(()),
            Err(error) => {
                let error = Asked::of(What::Write, at).failed(error);
                if attempts.maybe_applied() { self.settle(at, about, error).await } else { Err(error) }
            }
        }
    }

    /// What to say of a write whose answer is lost: whether the object is there now, and is the one of this upload.
    pub(super) async fn settle(
        &self,
        at: &Pointer,
        about: &About,
        error: StoreError,
    ) -> Result<(), StoreError> {
        let request = self.client().head_object().bucket(at.bucket()).key(at.key());
        match request.set_expected_bucket_owner(self.owner()).send().await {
            Ok(found) if about.is_of(found.metadata()) => Ok(()),
            Ok(_) if error.kind() == StoreErrorKind::Exists => Err(error),
            _ => Err(error.outcome_unknown()),
        }
    }

    pub(super) fn if_none_match(&self) -> Option<String> {
        self.settings().if_none_match.then(|| "*".to_owned())
    }
}

pub(super) fn length(part: &Part) -> i64 {
    i64::try_from(part.length()).unwrap_or(i64::MAX)
}
