//! Loads one payload into memory, and makes sure that it is the one that was stored.

use bytes::Bytes;
use futures_util::StreamExt as _;
use sqs_client::checksum::Md5Hex;
use sqs_client::client::Execute;

use super::PayloadRef;
use crate::client::ExtendedClient;
use crate::digest::{Digests, SHA256_METADATA};
use crate::error::{Error, ErrorKind};
use crate::store::{Object, PayloadStore, StoreError, StoreErrorKind};

/// How often a download that breaks off is begun again from where it broke off.
const RESUMES: u32 = 3;

/// A payload that is text.
pub(super) struct Text {
    pub(super) body: String,
    pub(super) md5: Md5Hex,
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// Loads a payload. At most as many at a time as the client allows, over all its clones.
    pub(super) async fn load(&self, payload: &PayloadRef) -> Result<Text, Error> {
        let shared = &self.shared;
        let limit = shared.settings.max_payload_bytes;
        if payload.length() > limit {
            let text = format!(
                "the payload has {} bytes, and at most {limit} are loaded (max_payload_bytes(..) changes that)",
                payload.length()
            );
            return Err(Error::about(ErrorKind::TooLarge, payload.pointer(), text));
        }
        // It is never closed.
        let _permit = shared.downloads.acquire().await.ok();
        let (bytes, sha256) = self.download(payload).await?;
        shared.tally.downloads.add(1);
        shared.tally.downloaded_bytes.add(bytes.len());
        verified(payload, bytes, sha256).await
    }

    /// The bytes, as many as the message says, and what the metadata of the object says of their hash.
    async fn download(&self, payload: &PayloadRef) -> Result<(Vec<u8>, Option<String>), Error> {
        let pointer = payload.pointer();
        let failed = |error| Error::download(pointer, error);
        let mut object = self.shared.store.get(pointer, 0, None).await.map_err(failed)?;
        check(payload, &object)?;
        let (tag, sha256) = (object.tag.take(), object.metadata.remove(SHA256_METADATA));
        let mut bytes = reserved(payload)?;
        let mut resumes = 0;
        loop {
            let error = match drain(object, payload.length(), &mut bytes).await {
                Ok(()) => return Ok((bytes, sha256)),
                Err(error) => error,
            };
            // Without a tag the rest could be of another version.
            if !error.is_retryable() || tag.is_none() || resumes == RESUMES {
                return Err(failed(error));
            }
            resumes += 1;
            let from = bytes.len() as u64;
            object = self.shared.store.get(pointer, from, tag.as_deref()).await.map_err(failed)?;
        }
    }
}

/// Room for exactly the bytes that message and store agree on.
fn reserved(payload: &PayloadRef) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let length = usize::try_from(payload.length()).unwrap_or(usize::MAX);
    match bytes.try_reserve_exact(length) {
        Ok(()) => Ok(bytes),
        Err(error) => {
            let text = format!("there is no memory for the {length} bytes of the payload: {error}");
            Err(Error::about(ErrorKind::TooLarge, payload.pointer(), text))
        }
    }
}

/// What can be said before the first byte.
fn check(payload: &PayloadRef, object: &Object) -> Result<(), Error> {
    let (pointer, length) = (payload.pointer(), payload.length());
    if let Some(encoding) = object.content_encoding.as_deref().filter(|encoding| !is_plain(encoding)) {
        let text = format!("the payload at {pointer} is encoded as {encoding:?}");
        return Err(Error::about(ErrorKind::NotText, pointer, text));
    }
    if object.length != length {
        let text =
            format!("the object at {pointer} has {} bytes, and its message says {length}", object.length);
        return Err(Error::about(ErrorKind::Damaged, pointer, text));
    }
    Ok(())
}

/// `aws-chunked` is how it was uploaded; some stores keep it.
fn is_plain(encoding: &str) -> bool {
    matches!(encoding.trim(), "" | "identity" | "aws-chunked")
}

/// Appends what comes until `length` bytes are there; fewer or more are an error.
async fn drain(mut object: Object, length: u64, bytes: &mut Vec<u8>) -> Result<(), StoreError> {
    let interrupted = |text: &str| Err(StoreError::new(StoreErrorKind::Interrupted, text));
    while let Some(chunk) = object.body.next().await {
        bytes.extend_from_slice(&chunk?);
        if bytes.len() as u64 > length {
            return Err(StoreError::new(StoreErrorKind::Changed, "the object goes on beyond its end"));
        }
    }
    if (bytes.len() as u64) < length { interrupted("the object ended before its end") } else { Ok(()) }
}

async fn verified(payload: &PayloadRef, bytes: Vec<u8>, sha256: Option<String>) -> Result<Text, Error> {
    let pointer = payload.pointer();
    let bytes = Bytes::from(bytes);
    let digests = Digests::of(&bytes).await;
    if let Some(expected) = sha256.filter(|expected| !expected.eq_ignore_ascii_case(&digests.sha256)) {
        let text = format!(
            "the object at {pointer} has the SHA-256 {}, and its metadata says {expected}",
            digests.sha256
        );
        return Err(Error::about(ErrorKind::Damaged, pointer, text));
    }
    match String::from_utf8(Vec::from(bytes)) {
        Ok(body) => Ok(Text { body, md5: digests.md5 }),
        Err(error) => {
            let text = format!("the payload at {pointer} is not UTF-8: {}", error.utf8_error());
            Err(Error::about(ErrorKind::NotText, pointer, text))
        }
    }
}
