//! Loads one payload into memory.

use sqs_client::client::Execute;
use sqs_client::wire::checksum::Md5Hex;
use tokio::time::{Instant, timeout_at};

use super::PayloadRef;
use super::hold::MAX_HOLD;
use crate::client::ExtendedClient;
use crate::digest::md5_of;
use crate::error::Error;
use crate::payload::Download;
use crate::store::{PayloadStore, StoreError, StoreErrorKind};

/// A payload that is text.
pub(super) struct Text {
    pub(super) body: String,
    pub(super) md5: Md5Hex,
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// Loads a payload, and gives it up when its receive has gone on for too long.
    pub(super) async fn load_until(&self, payload: &PayloadRef, until: Instant) -> Result<Text, Error> {
        timeout_at(until, self.load(payload)).await.unwrap_or_else(|_| {
            let at = payload.pointer();
            let hold = MAX_HOLD.as_secs();
            let says = format!("reading {at}: not all payloads of its receive were loaded within {hold} s");
            Err(Error::reading(at, StoreError::new(StoreErrorKind::Unavailable, says).into()))
        })
    }

    /// Loads a payload. At most as many at a time as the client allows, over all its clones.
    pub(super) async fn load(&self, payload: &PayloadRef) -> Result<Text, Error> {
        let shared = &self.shared;
        let failed = |error| Error::reading(payload.pointer(), error);
        let download = Download::new(&shared.store, payload.pointer().clone(), payload.length());
        // Several are loaded at a time already, and ranges ahead would need memory of their own. Whether it is text is asked
        // at the end, when the bytes are known to be the right ones.
        let download = download.max_length(shared.settings.max_payload_bytes).ranges_at_once(1).binary();
        // It is never closed.
        let permit = shared.downloads.acquire().await.ok();
        let text = download.open().await.map_err(failed)?.text(usize::MAX).await.map_err(failed)?;
        drop(permit);
        shared.tally.downloads.add(1);
        shared.tally.downloaded_bytes.add(text.len());
        let (body, md5) = md5_of(text).await;
        Ok(Text { body, md5 })
    }
}
