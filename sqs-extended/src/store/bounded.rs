//! A store whose calls have a timeout.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::time::timeout;

use super::pace::Pace;
use super::{ByteStream, Object, ObjectPage, PayloadStore, Upload};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;

/// A store whose calls have a timeout. A timeout is a retryable error.
#[derive(Clone)]
pub(crate) struct Bounded {
    inner: Arc<dyn PayloadStore>,
    timeout: Duration,
}

impl Bounded {
    pub(crate) fn new(inner: Arc<dyn PayloadStore>, timeout: Duration) -> Self {
        Self { inner, timeout }
    }

    pub(crate) fn inner(&self) -> &Arc<dyn PayloadStore> {
        &self.inner
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn bucket(&self) -> &str {
        self.inner.bucket()
    }

    pub(crate) async fn put(&self, at: &Pointer, mut upload: Upload) -> Result<(), Error> {
        let (pace, body) = Pace::of(self.timeout, upload.body);
        upload.body = body;
        tokio::select! {
            biased;
            result = self.inner.put(at, upload) => result,
            waited = pace.lost() => {
                Err(late(&format!("writing {at}"), "the store made no progress", waited).outcome_unknown())
            }
        }
    }

    /// Opens an object. The timeout also applies to each piece of its body, but not to the time that the reader takes.
    pub(crate) async fn get(
        &self,
        at: &Pointer,
        range: Option<Range<u64>>,
        tag: Option<&str>,
    ) -> Result<Object, Error> {
        let what = || format!("reading {at}");
        let mut object = self.within(what, self.inner.get(at, range, tag)).await?;
        object.body = flowing(object.body, what(), self.timeout);
        Ok(object)
    }

    pub(crate) async fn delete(&self, at: &Pointer) -> Result<(), Error> {
        self.within(|| format!("deleting {at}"), self.inner.delete(at)).await
    }

    pub(crate) async fn list(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<ObjectPage, Error> {
        self.within(|| format!("listing {bucket:?}"), self.inner.list(bucket, prefix, page)).await
    }

    async fn within<T>(
        &self,
        what: impl FnOnce() -> String,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        timeout(self.timeout, call)
            .await
            .unwrap_or_else(|_| Err(late(&what(), "the store did not respond", self.timeout)))
    }
}

fn flowing(body: ByteStream, what: String, patience: Duration) -> ByteStream {
    stream::unfold(Some((body, what)), move |state| async move {
        let (mut body, what) = state?;
        match timeout(patience, body.next()).await {
            Ok(piece) => Some((piece?, Some((body, what)))),
            Err(_) => Some((Err(late(&what, "no bytes arrived", patience)), None)),
        }
    })
    .boxed()
}

fn late(what: &str, why: &str, waited: Duration) -> Error {
    let text = format!("{what}: {why} within {waited:?} (see store_timeout)");
    Error::new(ErrorKind::Unavailable, text)
}

impl fmt::Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("bucket", &self.bucket()).finish_non_exhaustive()
    }
}
