//! Opens payloads for whoever does not know what kind of store they lie in.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqs_client::types::Message;

use super::PayloadRef;
use super::find::{Found, find};
use crate::client::Shared;
use crate::error::Error;
use crate::payload::{Body, Download, Options};
use crate::store::PayloadStore;

trait Open: Send + Sync {
    fn find(&self, message: &Message) -> Found;

    fn open(&self, payload: PayloadRef, options: Options) -> BoxFuture<'static, Result<Body, Error>>;
}

/// The payloads of a client's messages.
#[derive(Clone)]
pub(super) struct Opener(Arc<dyn Open>);

impl Opener {
    pub(super) fn new<S: PayloadStore>(shared: &Arc<Shared<S>>) -> Self {
        Self(Arc::<Shared<S>>::clone(shared))
    }

    pub(super) fn find(&self, message: &Message) -> Found {
        self.0.find(message)
    }

    pub(super) async fn open(&self, payload: PayloadRef, options: Options) -> Result<Body, Error> {
        self.0.open(payload, options).await
    }
}

impl<S: PayloadStore> Open for Shared<S> {
    fn find(&self, message: &Message) -> Found {
        find(message, &self.settings.allowed_buckets)
    }

    fn open(&self, payload: PayloadRef, options: Options) -> BoxFuture<'static, Result<Body, Error>> {
        let download = Download::new(&self.store, payload.pointer().clone(), payload.length());
        let tally = Arc::clone(&self.tally);
        Box::pin(async move {
            let body = download.options(options).open().await;
            let body = body.map_err(|error| Error::reading(payload.pointer(), error))?;
            tally.downloads.add(1);
            Ok(body)
        })
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").finish_non_exhaustive()
    }
}
