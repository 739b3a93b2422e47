//! Payloads in Amazon S3 and compatible services.
//!
//! ```text
//! put: source -> parts -> one part:   PutObject
//!                         more parts: Create -> UploadPart, several at a time -> Complete     or Abort, also on drop
//! get: GetObject (Range, If-Match) -> body
//! ```

mod read;
pub(crate) mod settings;

use std::convert::Infallible;
use std::error::Error as StdError;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::{fmt, io};

use aws_sdk_s3::config::RequestChecksumCalculation;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::RequestId as _;
use aws_sdk_s3::operation::abort_multipart_upload::AbortMultipartUploadError;
use aws_sdk_s3::operation::complete_multipart_upload::CompleteMultipartUploadError;
use aws_sdk_s3::operation::head_object::HeadObjectError;
use aws_sdk_s3::operation::put_object::PutObjectError;
use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use aws_sdk_s3::types::{ChecksumAlgorithm, CompletedMultipartUpload, CompletedPart, ServerSideEncryption};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors;
use aws_smithy_runtime_api::client::interceptors::context::FinalizerInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::Response;
use aws_smithy_types::config_bag::ConfigBag;
use base64_simd::STANDARD;
use bytes::Bytes;
use crc_fast::CrcAlgorithm;
use http_body::{Body, Frame, SizeHint};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::multipart::{MultipartStore, Part, Parts};
use crate::store::s3::settings::{Encryption, S3StoreBuilder, Settings};
use crate::store::{Object, PayloadStore, StoreFuture, Upload, maybe_written};

/// The members that `PutObject` and `CreateMultipartUpload` share.
macro_rules! describe {
    ($request:expr, $store:expr, $at:expr, $content_type:expr) => {{
        let (settings, encryption) = ($store.settings(), $store.encryption());
        $request
            .bucket($at.bucket())
            .key($at.key())
            .set_content_type($content_type)
            .set_acl(settings.acl.clone())
            .set_storage_class(settings.storage_class.clone())
            .set_tagging($store.0.tagging.clone())
            .set_expected_bucket_owner($store.owner($at.bucket()))
            .set_server_side_encryption(encryption.method)
            .set_ssekms_key_id(encryption.key)
            .set_ssekms_encryption_context(encryption.context)
            .set_bucket_key_enabled(settings.bucket_key)
    }};
}

/// Sets the members of requests and completed parts.
macro_rules! with_checksum {
    ($request:expr, $sum:expr) => {
        $request
            .set_checksum_crc32($sum.member(Checksum::Crc32))
            .set_checksum_crc32_c($sum.member(Checksum::Crc32C))
            .set_checksum_crc64_nvme($sum.member(Checksum::Crc64Nvme))
            .set_checksum_sha256($sum.member(Checksum::Sha256))
    };
}

/// Payloads in Amazon S3 and compatible services.
///
/// Each object has a new key, so a repeated request writes the same bytes. Uploads have a [checksum](Checksum) that S3
/// verifies and stores. Objects over 8 MiB are uploaded in parts, four at a time. If an upload fails or is dropped, it
/// is aborted in the background. If the process dies meanwhile, its parts remain: add a [lifecycle rule] with
/// `AbortIncompleteMultipartUpload` to the bucket.
///
/// The `aws_sdk_s3::Client` has its own retries and timeouts; by default it waits for responses forever. The
/// [`store_timeout`](crate::settings::ExtendedClientBuilder::store_timeout) bounds the calls of an extended client. Clones share the client.
///
/// ```no_run
/// # async fn open(s3: aws_sdk_s3::Client) -> Result<(), sqs_extended::Error> {
/// use sqs_extended::{Encryption, S3Store};
///
/// let simple = S3Store::new(s3.clone(), "payload-bucket");
/// let kms = Encryption::Kms { key: Some("alias/payloads".into()), context: vec![] };
/// let strict = S3Store::builder(s3, "payload-bucket")
///     .encryption(kms)
///     .bucket_key(true)
///     .expected_bucket_owner("111122223333")
///     .tag("purpose", "payloads")
///     .build()?;
/// # Ok(()) }
/// ```
///
/// [lifecycle rule]: https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpu-abort-incomplete-mpu-lifecycle-config.html
#[derive(Clone)]
pub struct S3Store(Arc<Inner>);

struct Inner {
    client: aws_sdk_s3::Client,
    bucket: String,
    settings: Settings,
    tagging: Option<String>,
}

impl S3Store {
    /// A store with default settings. New objects go to `bucket`.
    pub fn new(client: aws_sdk_s3::Client, bucket: impl Into<String>) -> Self {
        Self::assemble(client, bucket.into(), Settings::default())
    }

    /// A builder with settings.
    pub fn builder(client: aws_sdk_s3::Client, bucket: impl Into<String>) -> S3StoreBuilder {
        S3StoreBuilder::new(client, bucket.into())
    }

    fn assemble(client: aws_sdk_s3::Client, bucket: String, settings: Settings) -> Self {
        let tagging = settings.tagging();
        Self(Arc::new(Inner { client, bucket, settings, tagging }))
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The client for a bucket.
    fn client(&self, bucket: &str) -> &aws_sdk_s3::Client {
        let other = self.settings().others.get(bucket).and_then(|access| access.client.as_ref());
        other.unwrap_or(&self.0.client)
    }

    /// The account that must own a bucket.
    fn owner(&self, bucket: &str) -> Option<String> {
        match self.settings().others.get(bucket) {
            Some(access) => access.owner.clone(),
            None => self.settings().owner.clone().filter(|_| bucket == self.0.bucket),
        }
    }

    async fn write(&self, at: &Pointer, upload: Upload) -> Result<(), Error> {
        let Settings { part_size, in_flight, .. } = *self.settings();
        let mut parts = Parts::new(upload, part_size);
        match parts.whole().await? {
            Some(part) => self.put_object(at, parts.content_type(), &part).await,
            None => parts.upload(self, at, in_flight).await,
        }
    }

    async fn put_object(&self, at: &Pointer, content_type: Option<&str>, part: &Part) -> Result<(), Error> {
        let (attempts, checksum) = (Attempts::default(), self.settings().checksum);
        let sum = checksum.of(part).await;
        let request =
            describe!(self.client(at.bucket()).put_object(), self, at, content_type.map(str::to_owned))
                .content_length(length(part))
                .set_checksum_algorithm(checksum.algorithm())
                .body(body(part));
        let request = with_checksum!(request, sum)
            .customize()
            .config_override(self.checksums())
            .interceptor(attempts.clone());
        match request.send().await {
            Ok(_) => Ok(()),
            Err(error) => {
                let error = Asked::of(What::Write, at).failed(error);
                if !attempts.maybe_applied() {
                    return Err(error);
                }
                match self.exists(at, part.length() as u64).await {
                    Some(true) => Ok(()),
                    // S3 may still execute an attempt.
                    Some(false) | None => Err(maybe_written(error)),
                }
            }
        }
    }

    /// Whether S3 has an object of this length. `None`: unknown, for example without the permission `s3:GetObject`.
    async fn exists(&self, at: &Pointer, length: u64) -> Option<bool> {
        let request = self.client(at.bucket()).head_object().bucket(at.bucket()).key(at.key());
        match request.set_expected_bucket_owner(self.owner(at.bucket())).send().await {
            Ok(found) => (found.content_length == i64::try_from(length).ok()).then_some(true),
            Err(error) => {
                error.as_service_error().is_some_and(HeadObjectError::is_not_found).then_some(false)
            }
        }
    }

    /// Settings of the SDK for uploads.
    fn checksums(&self) -> aws_sdk_s3::config::Builder {
        let calculation = match self.settings().checksum {
            Checksum::None => RequestChecksumCalculation::WhenRequired,
            _ => RequestChecksumCalculation::WhenSupported,
        };
        aws_sdk_s3::config::Builder::new().request_checksum_calculation(calculation)
    }

    pub(crate) fn encryption(&self) -> EncryptionMembers {
        members(self.settings().encryption.as_ref())
    }

    async fn send_part(
        &self,
        at: &Pointer,
        id: &str,
        number: i32,
        part: &Part,
    ) -> Result<CompletedPart, Error> {
        let checksum = self.settings().checksum;
        let sum = checksum.of(part).await;
        let request = self.client(at.bucket()).upload_part().bucket(at.bucket()).key(at.key()).upload_id(id);
        let request = request.part_number(number).content_length(length(part)).body(body(part));
        let request = request.set_checksum_algorithm(checksum.algorithm());
        let request = with_checksum!(request, sum).set_expected_bucket_owner(self.owner(at.bucket()));
        let sent = request.customize().config_override(self.checksums()).send().await;
        let sent = sent.map_err(|error| Asked::of(What::Write, at).failed(error))?;
        let completed = CompletedPart::builder().part_number(number).set_e_tag(sent.e_tag);
        Ok(with_checksum!(completed, sum).build())
    }
}

impl PayloadStore for S3Store {
    fn bucket(&self) -> &str {
        &self.0.bucket
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(self.write(at, upload))
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(self.read(at, range, tag))
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let request = self.client(at.bucket()).delete_object().bucket(at.bucket()).key(at.key());
            let deleted = request.set_expected_bucket_owner(self.owner(at.bucket())).send().await;
            deleted.map(drop).map_err(|error| Asked::of(What::Delete, at).failed(error))
        })
    }

    fn held_bytes(&self) -> u64 {
        let Settings { part_size, in_flight, .. } = self.settings();
        u64::try_from(part_size.saturating_mul(in_flight.saturating_add(1))).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for S3Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Store")
            .field("bucket", &self.0.bucket)
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}

pub(crate) fn length(part: &Part) -> i64 {
    i64::try_from(part.length()).unwrap_or(i64::MAX)
}

/// [`Encryption`] as the members of a request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct EncryptionMembers {
    method: Option<ServerSideEncryption>,
    key: Option<String>,
    context: Option<String>,
}

fn members(encryption: Option<&Encryption>) -> EncryptionMembers {
    let kms = |method, key: &Option<String>, context: &[(String, String)]| {
        let names = context.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        let json = serde_json::Value::Object(names.collect()).to_string();
        let context = (!context.is_empty()).then(|| STANDARD.encode_to_string(json));
        EncryptionMembers { method: Some(method), key: key.clone(), context }
    };
    match encryption {
        None => EncryptionMembers::default(),
        Some(Encryption::S3) => {
            EncryptionMembers { method: Some(ServerSideEncryption::Aes256), ..EncryptionMembers::default() }
        }
        Some(Encryption::Kms { key, context }) => kms(ServerSideEncryption::AwsKms, key, context),
        Some(Encryption::KmsDsse { key, context }) => kms(ServerSideEncryption::AwsKmsDsse, key, context),
    }
}

/// Observes the attempts of one call. Clones share the result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts {
    maybe_applied: Arc<AtomicBool>,
}

impl Attempts {
    /// Whether S3 may have executed an attempt that failed: no response, or a server error.
    fn maybe_applied(&self) -> bool {
        self.maybe_applied.load(Ordering::Relaxed)
    }
}

#[dyn_dispatch_hint]
impl Intercept for Attempts {
    fn name(&self) -> &'static str {
        "Attempts"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(Err(error)) = context.output_or_error() else { return Ok(()) };
        let maybe_applied = match context.response() {
            Some(response) => is_open(response.status().as_u16(), error.as_operation_error().and_then(code)),
            None => error.is_timeout_error() || error.as_connector_error().is_some_and(|e| !is_refused(e)),
        };
        self.maybe_applied.fetch_or(maybe_applied, Ordering::Relaxed);
        Ok(())
    }
}

/// Whether S3 may have executed a request with this response. A 503 with another code may come from a proxy that lost
/// the response. A successful status with an unreadable body may have been executed, too.
fn is_open(status: u16, code: Option<&str>) -> bool {
    status < 300 || (status >= 500 && !code.is_some_and(is_throttled))
}

/// The error code of an observed call.
fn code(error: &interceptors::context::Error) -> Option<&str> {
    let put = error.downcast_ref::<PutObjectError>().and_then(ProvideErrorMetadata::code);
    put.or_else(|| error.downcast_ref::<CompleteMultipartUploadError>()?.code())
}

/// The connection was refused, so no request was sent.
fn is_refused(error: &(impl StdError + 'static)) -> bool {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = error.source();
    }
    false
}

struct Chain {
    part: Part,
    next: usize,
    left: u64,
}

/// The body of a part, without copies.
pub(crate) fn body(part: &Part) -> ByteStream {
    let part = part.clone();
    ByteStream::new(SdkBody::retryable(move || {
        let left = u64::try_from(part.length()).unwrap_or(u64::MAX);
        SdkBody::from_body_1_x(Chain { part: part.clone(), next: 0, left })
    }))
}

impl Body for Chain {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.part.pieces().get(self.next).cloned();
        if let Some(piece) = &piece {
            self.next += 1;
            self.left = self.left.saturating_sub(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.next >= self.part.pieces().len()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// A multipart upload.
pub struct S3Upload {
    at: Pointer,
    id: String,
}

impl MultipartStore for S3Store {
    type Upload = S3Upload;
    type Part = CompletedPart;

    fn begin<'a>(&'a self, at: &'a Pointer, content_type: Option<String>) -> StoreFuture<'a, S3Upload> {
        Box::pin(async move {
            let request =
                describe!(self.client(at.bucket()).create_multipart_upload(), self, at, content_type);
            let asked = Asked::of(What::Write, at);
            let answer = request.set_checksum_algorithm(self.settings().checksum.algorithm()).send().await;
            let id = answer.map_err(|error| asked.failed(error))?.upload_id;
            let id = id.ok_or_else(|| asked.wrong(ErrorKind::Rejected, "S3 returned no upload id"))?;
            Ok(S3Upload { at: at.clone(), id })
        })
    }

    fn part(&self, upload: &Arc<S3Upload>, number: u32, part: Part) -> StoreFuture<'static, CompletedPart> {
        let (store, upload) = (self.clone(), Arc::clone(upload));
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        Box::pin(async move { store.send_part(&upload.at, &upload.id, number, &part).await })
    }

    fn complete<'a>(
        &'a self,
        upload: &'a Arc<S3Upload>,
        parts: Vec<CompletedPart>,
        length: u64,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let S3Upload { at, id } = &**upload;
            let attempts = Attempts::default();
            let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
            let request = self.client(at.bucket()).complete_multipart_upload().bucket(at.bucket());
            let request = request.key(at.key()).upload_id(id).multipart_upload(parts);
            let request = request.set_expected_bucket_owner(self.owner(at.bucket()));
            let Err(error) = request.customize().interceptor(attempts.clone()).send().await else {
                return Ok(());
            };
            // An earlier attempt, perhaps one of a proxy, may have completed it.
            let is_gone = error.code() == Some("NoSuchUpload");
            let error = Asked::of(What::Write, at).failed(error);
            if !is_gone && !attempts.maybe_applied() {
                return Err(error);
            }
            match self.exists(at, length).await {
                Some(true) => Ok(()),
                // Nothing can complete an upload that is gone.
                Some(false) if is_gone => Err(error),
                Some(false) | None => Err(maybe_written(error)),
            }
        })
    }

    fn abort<'a>(&'a self, upload: &'a Arc<S3Upload>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let S3Upload { at, id } = &**upload;
            let request = self.client(at.bucket()).abort_multipart_upload().bucket(at.bucket()).key(at.key());
            let answer =
                request.upload_id(id).set_expected_bucket_owner(self.owner(at.bucket())).send().await;
            match answer {
                Ok(_) => Ok(()),
                // The upload was completed or aborted before.
                Err(error)
                    if error.as_service_error().is_some_and(AbortMultipartUploadError::is_no_such_upload) =>
                {
                    Ok(())
                }
                Err(error) => Err(Asked::of(What::Abort, at).failed(error)),
            }
        })
    }
}

/// Bytes to hash before other tasks get a turn.
const STEP: usize = 256 << 10;

/// The checksum of uploads, which S3 verifies and stores.
///
/// See [Checking object integrity](https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html). Some
/// compatible services accept only some of them, or none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Checksum {
    /// CRC-32, the default of the AWS SDKs.
    #[default]
    Crc32,
    /// CRC-32C.
    Crc32C,
    /// CRC-64/NVME.
    Crc64Nvme,
    /// SHA-256. It costs more CPU than the others.
    Sha256,
    /// No checksum is sent.
    None,
}

impl Checksum {
    fn algorithm(self) -> Option<ChecksumAlgorithm> {
        match self {
            Self::Crc32 => Some(ChecksumAlgorithm::Crc32),
            Self::Crc32C => Some(ChecksumAlgorithm::Crc32C),
            Self::Crc64Nvme => Some(ChecksumAlgorithm::Crc64Nvme),
            Self::Sha256 => Some(ChecksumAlgorithm::Sha256),
            Self::None => None,
        }
    }

    /// The checksum of a part.
    pub(crate) async fn of(self, part: &Part) -> Sum {
        let mut hash = Hasher::new(self);
        if let Some(hash) = &mut hash {
            for bytes in part.pieces().iter().flat_map(|piece| piece.chunks(STEP)) {
                hash.update(bytes);
                tokio::task::yield_now().await;
            }
        }
        Sum { of: self, base64: hash.map(Hasher::finish) }
    }
}

/// The checksum of a request.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    of: Checksum,
    base64: Option<String>,
}

impl Sum {
    /// The member of a request for this checksum.
    fn member(&self, checksum: Checksum) -> Option<String> {
        self.base64.clone().filter(|_| self.of == checksum)
    }
}

enum Hasher {
    /// With the number of its bytes.
    Crc(crc_fast::Digest, usize),
    Sha256(Sha256),
}

impl Hasher {
    fn new(checksum: Checksum) -> Option<Self> {
        let crc = |algorithm, bytes| Self::Crc(crc_fast::Digest::new(algorithm), bytes);
        match checksum {
            Checksum::Crc32 => Some(crc(CrcAlgorithm::Crc32IsoHdlc, 4)),
            Checksum::Crc32C => Some(crc(CrcAlgorithm::Crc32Iscsi, 4)),
            Checksum::Crc64Nvme => Some(crc(CrcAlgorithm::Crc64Nvme, 8)),
            Checksum::Sha256 => Some(Self::Sha256(Sha256::new())),
            Checksum::None => None,
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc(crc, _) => crc.update(bytes),
            Self::Sha256(hash) => hash.update(bytes),
        }
    }

    fn finish(self) -> String {
        match self {
            Self::Crc(crc, bytes) => STANDARD.encode_to_string(&crc.finalize().to_be_bytes()[8 - bytes..]),
            Self::Sha256(hash) => STANDARD.encode_to_string(hash.finalize()),
        }
    }
}

/// A call, for error texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    what: What,
    pub(crate) bucket: &'a str,
    key: &'a str,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum What {
    Read,
    Write,
    Delete,
    Abort,
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.what {
            What::Read => "reading",
            What::Write => "writing",
            What::Delete => "deleting",
            What::Abort => "aborting the upload of",
        };
        write!(f, "{verb} s3://{}/{}", self.bucket, self.key)
    }
}

impl<'a> Asked<'a> {
    pub(crate) fn of(what: What, at: &'a Pointer) -> Self {
        Self { what, bucket: at.bucket(), key: at.key() }
    }

    /// A failed call. Its source is the error of the SDK.
    fn failed<E>(self, error: SdkError<E, Response>) -> Error
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
    {
        let status = error.raw_response().map(|response| response.status().as_u16());
        let kind = match &error {
            SdkError::ServiceError(_) | SdkError::ResponseError(_) => kind(self.what, status, error.code()),
            SdkError::ConstructionFailure(_) => ErrorKind::Rejected,
            _ => ErrorKind::Unavailable,
        };
        let says = if let Some(service) = error.as_service_error() {
            let code = service.code().unwrap_or("an error without a code");
            let text = service.message().map(|text| format!(": {text}")).unwrap_or_default();
            let id = error.request_id().map(|id| format!(", request {id}")).unwrap_or_default();
            format!("S3 returned {code}{text} (status {}{id})", status.unwrap_or_default())
        } else {
            causes(&error)
        };
        Error::new(kind, format!("{self}: {says}")).caused_by(error)
    }

    /// An error that does not come from the SDK.
    fn wrong(self, kind: ErrorKind, says: impl fmt::Display) -> Error {
        Error::new(kind, format!("{self}: {says}"))
    }
}

/// The texts of an error of the SDK and of its causes, because its own text has few details.
fn causes(error: &(dyn StdError + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| (*error).source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Error codes of errors that pass: with new credentials, a corrected clock, or fewer requests. AWS KMS throttles with status 400. The
/// flag says whether S3 throttled the request, so that it certainly was not executed.
///
/// Sources: <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>,
/// <https://docs.aws.amazon.com/kms/latest/developerguide/throttling.html>
const TRANSIENT: [(&str, bool); 15] = [
    ("ExpiredToken", false),
    ("KMS.ThrottlingException", false),
    ("OperationAborted", false),
    ("RequestLimitExceeded", false),
    ("RequestThrottled", false),
    ("RequestTimeTooSkewed", false),
    ("RequestTimeout", false),
    ("SlowDown", true),
    ("SlowDownRead", true),
    ("SlowDownWrite", true),
    ("Throttling", true),
    ("ThrottlingException", true),
    ("ThrottledException", false),
    ("TokenRefreshRequired", false),
    ("TooManyRequestsException", false),
];

fn is_transient(code: &str) -> bool {
    TRANSIENT.iter().any(|(transient, _)| *transient == code)
}

fn is_throttled(code: &str) -> bool {
    TRANSIENT.contains(&(code, true))
}

fn kind(what: What, status: Option<u16>, code: Option<&str>) -> ErrorKind {
    match (status.unwrap_or_default(), code) {
        // A missing bucket is not a missing object, and neither is the 404 of a proxy, which has no error code of S3: a policy may
        // delete messages whose object is missing.
        (404, Some("NoSuchKey" | "NotFound")) if what == What::Read => ErrorKind::NotFound,
        (404, None) if what == What::Read => ErrorKind::Unavailable,
        (_, Some(code)) if is_transient(code) => ErrorKind::Unavailable,
        (403, _) => ErrorKind::Forbidden,
        (412 | 416, _) if what == What::Read => ErrorKind::Damaged,
        // Server errors, and successes with an error or an unreadable body.
        (0..300 | 408 | 429 | 500.., _) => ErrorKind::Unavailable,
        _ => ErrorKind::Rejected,
    }
}

#[cfg(test)]
mod object_tests {
    use super::*;

    #[test]
    fn encryption_context_is_json_in_base64() {
        let (key, context) = (Some("alias/k".to_owned()), vec![("app".to_owned(), "a\"b".to_owned())]);
        for (encryption, method) in [
            (Encryption::Kms { key: key.clone(), context: context.clone() }, ServerSideEncryption::AwsKms),
            (Encryption::KmsDsse { key: key.clone(), context }, ServerSideEncryption::AwsKmsDsse),
        ] {
            let members = members(Some(&encryption));
            assert_eq!((members.method, &members.key), (Some(method), &key));
            let json = STANDARD.decode_to_vec(members.context.unwrap()).unwrap();
            assert_eq!(json, br#"{"app":"a\"b"}"#);
        }
    }
}

#[cfg(test)]
mod attempts_tests {
    use super::*;

    #[test]
    fn outcome_is_known_after_a_client_error_and_unknown_after_a_server_error() {
        assert!([400, 403, 404, 409, 412, 429].iter().all(|status| !is_open(*status, None)));
        assert!([200, 500, 502, 503, 504].iter().all(|status| is_open(*status, None)));
        assert!(!is_open(503, Some("SlowDown")) && is_open(503, Some("ServiceUnavailable")));
    }
}

#[cfg(test)]
mod checksum_tests {
    use bytes::Bytes;

    use super::*;

    /// The check values of the catalogue of CRCs, <https://reveng.sourceforge.io/crc-catalogue/all.htm>.
    #[tokio::test]
    async fn checksum_of_a_part_is_that_of_all_its_pieces() {
        let part = Part::new(vec![Bytes::from_static(b"1234"), Bytes::from_static(b"56789")]);
        for (checksum, expected) in [
            (Checksum::Crc32, Some(vec![0xcb, 0xf4, 0x39, 0x26])),
            (Checksum::Crc32C, Some(vec![0xe3, 0x06, 0x92, 0x83])),
            (Checksum::Crc64Nvme, Some(vec![0xae, 0x8b, 0x14, 0x86, 0x0a, 0x79, 0x98, 0x88])),
            (Checksum::Sha256, Some(Sha256::digest(b"123456789").to_vec())),
            (Checksum::None, None),
        ] {
            let sum = checksum.of(&part).await;
            let sent = sum.member(checksum).map(|base64| STANDARD.decode_to_vec(base64).unwrap());
            assert_eq!(sent, expected, "{checksum:?}");
            let other = if checksum == Checksum::Crc32 { Checksum::Sha256 } else { Checksum::Crc32 };
            assert_eq!(sum.member(other), None);
        }
    }
}

#[cfg(test)]
mod error_tests {
    use super::*;

    #[test]
    fn only_a_missing_key_is_not_found() {
        use ErrorKind::{NotFound, Rejected, Unavailable};
        assert_eq!(kind(What::Read, Some(404), Some("NoSuchKey")), NotFound);
        assert_eq!(kind(What::Read, Some(404), Some("NoSuchBucket")), Rejected);
        assert_eq!(kind(What::Read, Some(404), None), Unavailable);
        assert_eq!(kind(What::Write, Some(404), Some("NoSuchUpload")), Rejected);
    }

    #[test]
    fn failed_condition_of_a_read_means_damaged() {
        assert_eq!(kind(What::Read, Some(412), Some("PreconditionFailed")), ErrorKind::Damaged);
        assert_eq!(kind(What::Read, Some(416), Some("InvalidRange")), ErrorKind::Damaged);
    }

    #[test]
    fn transient_errors_are_unavailable_and_permanent_ones_rejected() {
        for (status, code) in
            [(500, "InternalError"), (503, "SlowDown"), (400, "RequestTimeout"), (200, "InternalError")]
        {
            assert_eq!(kind(What::Write, Some(status), Some(code)), ErrorKind::Unavailable, "{code}");
        }
        for (status, code) in [(400, "InvalidRequest"), (301, "PermanentRedirect"), (400, "BadDigest")] {
            assert_eq!(kind(What::Write, Some(status), Some(code)), ErrorKind::Rejected, "{code}");
        }
        assert_eq!(kind(What::Read, Some(403), Some("AccessDenied")), ErrorKind::Forbidden);
    }

    #[test]
    fn only_credentials_clocks_and_throttles_that_pass_are_retryable() {
        for (status, code) in [
            (400, "ExpiredToken"),
            (403, "RequestTimeTooSkewed"),
            (400, "KMS.ThrottlingException"),
            (400, "ThrottlingException"),
            (400, "RequestLimitExceeded"),
            (400, "SlowDown"),
        ] {
            for what in [What::Read, What::Write, What::Delete] {
                assert_eq!(kind(what, Some(status), Some(code)), ErrorKind::Unavailable, "{code}");
            }
        }
        assert_eq!(kind(What::Read, Some(400), Some("InvalidToken")), ErrorKind::Rejected);
        for code in ["InvalidAccessKeyId", "SignatureDoesNotMatch"] {
            assert_eq!(kind(What::Read, Some(403), Some(code)), ErrorKind::Forbidden, "{code}");
        }
    }
}
