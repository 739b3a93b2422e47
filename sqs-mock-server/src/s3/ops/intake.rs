//! Bytes of a request on their way into a file, and what they must add up to.

use std::sync::Arc;

use futures_util::StreamExt as _;
use http::HeaderMap;
use parking_lot::Mutex;
use s3s::dto::StreamingBlob;
use s3s::{S3Error, S3Result, StdError, s3_error};

use super::Failed;
use crate::s3::front::TooSlow;
use crate::s3::store::{Algorithm, Bucket, Hashes, Written};

/// Headers that come after a body. They are there once it has been read.
#[derive(Clone, Debug, Default)]
pub(in crate::s3) struct Trailers(pub(in crate::s3) Arc<Mutex<HeaderMap>>);

/// The checksum that a request announces.
#[derive(Debug)]
pub(super) struct Announced {
    algorithm: Option<Algorithm>,
    /// What the caller has computed, in base64; not there when it comes as a trailer, or not at all.
    value: Option<String>,
    md5: Option<String>,
    after_body: After,
}

/// Where a checksum comes from that is not in a header.
#[derive(Debug)]
enum After {
    Ours(Option<Trailers>),
    Verified(Option<s3s::TrailingHeaders>),
}

impl Announced {
    /// What a request says. `fallback` is the algorithm when it says nothing.
    pub(super) fn of<T>(request: &s3s::S3Request<T>, fallback: Option<Algorithm>) -> Self {
        let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        let given = Algorithm::ALL.into_iter().find_map(|one| Some((one, header(one.header())?)));
        let trailer = || {
            let name = header("x-amz-trailer")?.trim();
            Algorithm::ALL.into_iter().find(|one| one.header().eq_ignore_ascii_case(name))
        };
        let named = || Algorithm::from_name(header("x-amz-sdk-checksum-algorithm")?);
        let algorithm = given.map(|(algorithm, _)| algorithm).or_else(trailer).or_else(named).or(fallback);
        let after_body = match &request.trailing_headers {
            Some(trailers) => After::Verified(Some(trailers.clone())),
            None => After::Ours(request.extensions.get::<Trailers>().cloned()),
        };
        Self {
            algorithm,
            value: given.map(|(_, value)| value.to_owned()),
            md5: header("content-md5").map(str::to_owned),
            after_body,
        }
    }

    /// Writes a body into a file of the bucket.
    ///
    /// # Errors
    /// It does not add up, or breaks off. Nothing stays then, nor when this is dropped.
    pub(super) async fn store(self, bucket: &Bucket, body: Option<StreamingBlob>) -> S3Result<Written> {
        let mut draft = bucket.draft().await.map_err(Failed::from)?;
        let mut hashes = Hashes::new(self.algorithm);
        if let Some(mut body) = body {
            while let Some(chunk) = body.next().await {
                let chunk = chunk.map_err(broken)?;
                hashes.update(&chunk);
                draft.write(&chunk).await.map_err(Failed::from)?;
            }
        }
        let written = draft.finish(hashes).await.map_err(Failed::from)?;
        self.verify(&written)?;
        Ok(written)
    }

    fn verify(self, written: &Written) -> S3Result<()> {
        if let Some(md5) = &self.md5 {
            let given = base64_simd::STANDARD.decode_to_vec(md5).unwrap_or_default();
            if given.len() != written.md5.len() {
                return Err(s3_error!(InvalidDigest, "The Content-MD5 you specified was invalid."));
            }
            if given != written.md5 {
                let text = "The Content-MD5 you specified did not match what we received.";
                return Err(s3_error!(BadDigest, "{text}"));
            }
        }
        let Some(sum) = &written.sum else { return Ok(()) };
        let name = sum.algorithm.header();
        let given = self.value.or_else(|| self.after_body.find(name));
        match given {
            Some(given) if given != sum.value => Err(s3_error!(
                BadDigest,
                "The {} you specified did not match the calculated checksum.",
                sum.algorithm.name()
            )),
            _ => Ok(()),
        }
    }
}

impl After {
    fn find(&self, name: &str) -> Option<String> {
        let find = |headers: &HeaderMap| Some(headers.get(name)?.to_str().ok()?.trim().to_owned());
        match self {
            Self::Ours(trailers) => find(&trailers.as_ref()?.0.lock()),
            Self::Verified(trailers) => trailers.as_ref()?.read(find).flatten(),
        }
    }
}

/// What is wrong with a body that cannot be read to its end.
fn broken(error: StdError) -> S3Error {
    let text = error.to_string();
    if error.is::<TooSlow>() {
        let message =
            "Your socket connection to the server was not read from or written to within the timeout period.";
        return s3_error!(RequestTimeout, "{message}");
    }
    // s3s tells these apart, but does not let others name them.
    if text.contains("Sha256Mismatch") {
        return s3_error!(
            BadDigest,
            "The provided 'x-amz-content-sha256' header does not match what was computed."
        );
    }
    if text.contains("SignatureMismatch") {
        return s3_error!(SignatureDoesNotMatch, "A chunk of the body does not match its signature.");
    }
    let mut refusal = s3_error!(IncompleteBody, "The request body terminated unexpectedly");
    refusal.set_source(error);
    refusal
}
