//! A store of which no call takes for ever.

use std::ops::Range;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::time::timeout;

use super::pace::Pace;
use super::{
    ByteStream, Object, ObjectPage, PayloadStore, StoreError, StoreErrorKind, UnfinishedPage, Upload,
};
use crate::pointer::Pointer;

/// A store whose calls end in time: with its answer, or with an error that may pass.
#[derive(Clone, Debug)]
pub(crate) struct Bounded<S> {
    inner: S,
    timeout: Duration,
}

impl<S: PayloadStore> Bounded<S> {
    pub(crate) fn new(inner: S, timeout: Duration) -> Self {
        Self { inner, timeout }
    }

    pub(crate) fn inner(&self) -> &S {
        &self.inner
    }

    async fn within<T>(
        &self,
        what: impl FnOnce() -> String + Send,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        timeout(self.timeout, call)
            .await
            .unwrap_or_else(|_| Err(late(&what(), "the store has not answered", self.timeout)))
    }

    async fn open(
        &self,
        at: &Pointer,
        call: impl Future<Output = Result<Object, StoreError>>,
    ) -> Result<Object, StoreError> {
        let what = || format!("reading {at}");
        let mut object = self.within(what, call).await?;
        object.body = flowing(object.body, what(), self.timeout);
        Ok(object)
    }
}

impl<S: PayloadStore> PayloadStore for Bounded<S> {
    fn bucket(&self) -> &str {
        self.inner.bucket()
    }

    async fn put(&self, at: &Pointer, mut upload: Upload) -> Result<(), StoreError> {
        let (pace, body) = Pace::of(self.timeout, upload.body);
        upload.body = body;
        tokio::select! {
            biased;
            result = self.inner.put(at, upload) => result,
            waited = pace.lost() => {
                Err(late(&format!("writing {at}"), "the store has not gone on", waited).outcome_unknown())
            }
        }
    }

    async fn get(&self, at: &Pointer, from: u64, tag: Option<&str>) -> Result<Object, StoreError> {
        self.open(at, self.inner.get(at, from, tag)).await
    }

    async fn get_range(
        &self,
        at: &Pointer,
        range: Range<u64>,
        tag: Option<&str>,
    ) -> Result<Object, StoreError> {
        self.open(at, self.inner.get_range(at, range, tag)).await
    }

    async fn delete(&self, at: &Pointer) -> Result<(), StoreError> {
        self.within(|| format!("deleting {at}"), self.inner.delete(at)).await
    }

    async fn list(&self, bucket: &str, prefix: &str, page: Option<&str>) -> Result<ObjectPage, StoreError> {
        self.within(|| format!("listing {bucket:?}"), self.inner.list(bucket, prefix, page)).await
    }

    async fn list_unfinished(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<UnfinishedPage, StoreError> {
        let call = self.inner.list_unfinished(bucket, prefix, page);
        self.within(|| format!("listing the uploads to {bucket:?}"), call).await
    }

    async fn abort_unfinished(&self, at: &Pointer, id: &str) -> Result<(), StoreError> {
        self.within(|| format!("ending an upload to {at}"), self.inner.abort_unfinished(at, id)).await
    }
}

/// A body each piece of which comes in time after it was asked for. Who reads it may take any time.
fn flowing(body: ByteStream, what: String, patience: Duration) -> ByteStream {
    stream::unfold(Some((body, what)), move |state| async move {
        let (mut body, what) = state?;
        match timeout(patience, body.next()).await {
            Ok(piece) => Some((piece?, Some((body, what)))),
            Err(_) => Some((Err(late(&what, "no byte has come", patience)), None)),
        }
    })
    .boxed()
}

fn late(what: &str, why: &str, waited: Duration) -> StoreError {
    let says = format!("{what}: {why} within {waited:?} (store_timeout(..) sets how long it may take)");
    StoreError::new(StoreErrorKind::Unavailable, says)
}
