//! Loads payloads into memory.

use std::sync::Arc;

use sqs_client::wire::checksum::Md5Hex;
use tokio::time::{Instant, timeout_at};

use super::hold::MAX_HOLD;
use crate::client::Shared;
use crate::digest::md5_of;
use crate::error::{Error, ErrorKind};
use crate::format::PayloadRef;
use crate::payload::{Body, Download, Options};

/// A loaded payload.
pub(super) struct Text {
    pub(super) body: String,
    pub(super) md5: Md5Hex,
}

impl Text {
    pub(super) async fn of(text: String) -> Self {
        let (body, md5) = md5_of(text).await;
        Self { body, md5 }
    }
}

impl Shared {
    /// Opens a payload for reading.
    pub(super) async fn open(&self, payload: &PayloadRef, options: Options) -> Result<Body, Error> {
        let download = Download {
            store: self.store.clone(),
            at: payload.pointer().clone(),
            length: payload.length(),
            sha256: payload.sha256().map(str::to_owned),
        };
        download.open(options).await.map_err(|error| error.at(payload.pointer()))
    }

    /// Opens a payload as a stream.
    pub(super) async fn stream(
        self: Arc<Self>,
        payload: PayloadRef,
        options: Options,
    ) -> Result<Body, Error> {
        let body = self.open(&payload, options).await?;
        self.tally.downloads.add(1);
        Ok(body)
    }

    /// Loads a payload. Fails at `end`.
    pub(super) async fn load_until(&self, payload: &PayloadRef, end: Instant) -> Result<Text, Error> {
        timeout_at(end, self.load(payload)).await.unwrap_or_else(|_| {
            let (at, seconds) = (payload.pointer(), MAX_HOLD.as_secs());
            let text = format!("reading {at}: the payloads of a receive took more than {seconds} s");
            Err(Error::new(ErrorKind::Unavailable, text).at(at))
        })
    }

    /// Loads a payload. [`concurrency`](crate::ExtendedClientBuilder::concurrency) limits the loads of all clones
    /// together.
    async fn load(&self, payload: &PayloadRef) -> Result<Text, Error> {
        let mut options =
            Options { is_binary: true, limit: self.settings.max_payload_bytes, ..Options::default() };
        // Ranges that are read ahead would need more memory.
        options.plan.at_once = 1;
        // The semaphore is never closed.
        let permit = self.downloads.acquire().await.ok();
        let body = self.open(payload, options).await?;
        let text = body.text(usize::MAX).await.map_err(|error| error.at(payload.pointer()))?;
        drop(permit);
        self.tally.downloads.add(1);
        self.tally.downloaded_bytes.add(text.len());
        Ok(Text::of(text).await)
    }
}
