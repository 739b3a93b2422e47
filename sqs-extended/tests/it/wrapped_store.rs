//! A wrapper around a store that lets a test change uploads and reads.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqs_extended::{Object, PayloadStore, Pointer, StoreFuture, Upload};

use super::faulty_store::FaultyStore;

type Changed<I, O> = Option<Arc<dyn Fn(I) -> O + Send + Sync>>;

#[derive(Clone)]
pub(crate) struct WrappedStore {
    inner: FaultyStore,
    /// Changes each upload.
    pub(crate) puts: Changed<Upload, Upload>,
    /// Executes uploads after this time, also if their calls are dropped before.
    pub(crate) late_puts: Option<Duration>,
    /// Runs before each read.
    pub(crate) before_gets: Changed<Pointer, BoxFuture<'static, ()>>,
    /// Changes each object that was read.
    pub(crate) gets: Changed<Object, Object>,
}

impl WrappedStore {
    pub(crate) fn new(inner: FaultyStore) -> Self {
        Self { inner, puts: None, late_puts: None, before_gets: None, gets: None }
    }
}

impl PayloadStore for WrappedStore {
    fn bucket(&self) -> &str {
        self.inner.bucket()
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        let upload = match &self.puts {
            Some(change) => change(upload),
            None => upload,
        };
        let Some(delay) = self.late_puts else { return self.inner.put(at, upload) };
        let (inner, at) = (self.inner.clone(), at.clone());
        let executed = tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            inner.put(&at, upload).await
        });
        Box::pin(async move { executed.await.unwrap() })
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(async move {
            if let Some(wait) = &self.before_gets {
                wait(at.clone()).await;
            }
            let object = self.inner.get(at, range, tag).await?;
            Ok(match &self.gets {
                Some(change) => change(object),
                None => object,
            })
        })
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        self.inner.delete(at)
    }
}
