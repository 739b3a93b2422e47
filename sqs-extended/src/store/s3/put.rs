//! Writing an object, in one request if it fits into one part.

use aws_sdk_s3::config::RequestChecksumCalculation;
use aws_sdk_s3::error::SdkError;

use super::attempts::Attempts;
use super::chain;
use super::checksum::{Checksum, with_checksum};
use super::error::{Asked, What};
use super::object::{About, describe};
use super::{S3Store, Upload};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::mark;
use crate::store::parts::{Part, Source};

impl S3Store {
    pub(super) async fn write(&self, at: &Pointer, upload: Upload) -> Result<(), Error> {
        let Upload { body, length, content_type, metadata } = upload;
        let about = About { content_type, metadata };
        let mut source = Source::new(body, length, self.settings().part_size);
        let first = source.part().await?.unwrap_or_default();
        if source.is_done() {
            self.put_object(at, &about, &first).await
        } else {
            self.put_parts(at, about, first, source).await
        }
    }

    async fn put_object(&self, at: &Pointer, about: &About, part: &Part) -> Result<(), Error> {
        let (attempts, checksum) = (Attempts::default(), self.settings().checksum);
        let sum = checksum.of(part).await;
        let request = describe!(self.client(at.bucket()).put_object(), self, at, about)
            .set_if_none_match(self.if_none_match())
            .content_length(length(part))
            .set_checksum_algorithm(checksum.algorithm())
            .body(chain::body(part));
        let request = with_checksum!(request, sum)
            .customize()
            .config_override(self.checksums())
            .interceptor(attempts.clone());
        match request.send().await {
            Ok(_) => Ok(()),
            Err(error) => {
                let error = Asked::of(What::Write, at).failed(error);
                if attempts.maybe_applied() { self.settle(at, about, error).await } else { Err(error) }
            }
        }
    }

    /// The outcome of a write that S3 may have executed: looks for the object.
    pub(super) async fn settle(&self, at: &Pointer, about: &About, error: Error) -> Result<(), Error> {
        let request = self.client(at.bucket()).head_object().bucket(at.bucket()).key(at.key());
        let is_ours = match request.set_expected_bucket_owner(self.owner(at.bucket())).send().await {
            Ok(found) => {
                mark::is_of(&mark::with_hyphens(found.metadata.unwrap_or_default()), &about.metadata)
            }
            // Without `s3:GetObject`, the store cannot look. Keys are unique, so an earlier attempt of this write took
            // the key.
            Err(denied) if error.kind() == ErrorKind::Exists && is_denied(&denied) => Some(true),
            Err(_) => None,
        };
        mark::settle(error, is_ours)
    }

    pub(super) fn if_none_match(&self) -> Option<String> {
        self.settings().if_none_match.then(|| "*".to_owned())
    }

    /// Settings of the SDK for uploads.
    pub(super) fn checksums(&self) -> aws_sdk_s3::config::Builder {
        let calculation = match self.settings().checksum {
            Checksum::None => RequestChecksumCalculation::WhenRequired,
            _ => RequestChecksumCalculation::WhenSupported,
        };
        aws_sdk_s3::config::Builder::new().request_checksum_calculation(calculation)
    }
}

fn is_denied<E>(error: &SdkError<E>) -> bool {
    error.raw_response().is_some_and(|response| response.status().as_u16() == 403)
}

pub(super) fn length(part: &Part) -> i64 {
    i64::try_from(part.length()).unwrap_or(i64::MAX)
}
