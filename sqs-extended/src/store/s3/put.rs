//! Writing an object, in one request if it fits into one part.

use aws_sdk_s3::config::RequestChecksumCalculation;
use aws_sdk_s3::error::SdkError;
use aws_sdk_s3::operation::head_object::HeadObjectError;
use base64_simd::STANDARD;

use super::attempts::Attempts;
use super::chain;
use super::error::{Asked, What};
use super::object::{About, describe};
use super::settings::Checksum;
use super::{S3Store, Upload};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::parts::{Part, Source};

impl S3Store {
    pub(super) async fn write(&self, at: &Pointer, upload: Upload) -> Result<(), Error> {
        let Upload { body, length, content_type, metadata } = upload;
        let about = About { content_type, metadata };
        let mut source = Source::new(body, length, self.settings().part_size);
        let first = source.part().await?.unwrap_or_default();
        if source.is_done() {
            let hash = first.sha256().await;
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
    ) -> Result<(), Error> {
        let (attempts, checksum) = (Attempts::default(), self.settings().checksum);
        let hash = (checksum == Checksum::Sha256).then(|| STANDARD.encode_to_string(sha256));
        let request = describe!(self.client(at.bucket()).put_object(), self, at, about)
            .set_if_none_match(self.if_none_match())
            .content_length(length(part))
            .set_checksum_algorithm(checksum.algorithm())
            .set_checksum_sha256(hash)
            .body(chain::body(part));
        let request = request.customize().config_override(self.checksums()).interceptor(attempts.clone());
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
        match request.set_expected_bucket_owner(self.owner(at.bucket())).send().await {
            Ok(found) if about.is_of(found.metadata()) => Ok(()),
            Ok(_) if error.kind() == ErrorKind::Exists => Err(error),
            // Keys are unique, so an earlier attempt of this write took it. Without `s3:GetObject` it cannot be looked at.
            Err(denied) if error.kind() == ErrorKind::Exists && !is_missing(&denied) => Ok(()),
            _ => Err(error.outcome_unknown()),
        }
    }

    pub(super) fn if_none_match(&self) -> Option<String> {
        self.settings().if_none_match.then(|| "*".to_owned())
    }

    /// Settings of the SDK for requests with bytes.
    pub(super) fn checksums(&self) -> aws_sdk_s3::config::Builder {
        let calculation = match self.settings().checksum {
            Checksum::None => RequestChecksumCalculation::WhenRequired,
            _ => RequestChecksumCalculation::WhenSupported,
        };
        aws_sdk_s3::config::Builder::new().request_checksum_calculation(calculation)
    }
}

fn is_missing<R>(error: &SdkError<HeadObjectError, R>) -> bool {
    error.as_service_error().is_some_and(HeadObjectError::is_not_found)
}

pub(super) fn length(part: &Part) -> i64 {
    i64::try_from(part.length()).unwrap_or(i64::MAX)
}
