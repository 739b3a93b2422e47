//! What a server of S3 holds, for the reset and the admin API of the SQS server.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Host;
use super::front::Metrics;
use super::ops::{Operations, Query};
use super::setup::S3;
use super::store::{Bucket, read_all};
use crate::service::clock::Timestamp;
use crate::service::metrics::Exposition;

/// The parts of the S3 server that outlive a connection.
#[derive(Debug)]
pub(crate) struct Content {
    pub(super) settings: S3,
    pub(super) host: Arc<Host>,
    pub(super) operations: Operations,
    pub(super) metrics: Arc<Metrics>,
}

impl Content {
    pub(super) fn create_initial_buckets(&self) -> io::Result<()> {
        let (store, now) = (&self.operations.store, self.host.clock.now().as_millis());
        self.settings.buckets().into_iter().try_for_each(|name| store.create(name, now).map(drop))?;
        for (name, configuration) in &self.host.notifications {
            if let Some(bucket) = store.bucket(name) {
                bucket.set_notifications(configuration.clone())?;
            }
        }
        Ok(())
    }

    /// Drops the events that are not delivered yet.
    pub(crate) fn discard_events(&self) {
        self.operations.outbox.discard();
    }

    /// Removes the objects if the directory is temporary.
    pub(crate) fn reset(&self) {
        if let Err(error) =
            self.operations.store.clear_temporary().and_then(|()| self.create_initial_buckets())
        {
            tracing::error!(%error, "cannot create the initial buckets again");
        }
    }

    /// Writes the counters.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        self.metrics.write(text);
    }

    /// All buckets, sorted by name.
    pub(crate) fn describe_buckets(&self) -> Vec<Value> {
        self.operations.store.buckets().iter().map(|bucket| describe(bucket)).collect()
    }

    /// The names of all buckets with the numbers of their objects.
    pub(crate) fn sizes(&self) -> Vec<(String, usize)> {
        let buckets = self.operations.store.buckets();
        buckets.iter().map(|bucket| (bucket.name.clone(), bucket.objects(BTreeMap::len))).collect()
    }

    /// A page of at most `limit` objects whose key begins with `prefix` and follows `after`; `next` is the last key, except
    /// on the last page. `None` if there is no such bucket.
    pub(crate) fn describe_objects(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Option<Value> {
        let query = Query { prefix, delimiter: None, after, limit };
        let found = self.operations.store.bucket(bucket)?.objects(|all| query.page(all));
        let objects = found.rows.iter().map(|object| {
            json!({
                "key": object.key,
                "size": object.size(),
                "etag": object.etag,
                "modified": Timestamp::from_millis(object.modified).to_string(),
                "content_type": object.attributes.content_type,
            })
        });
        let mut page = json!({ "objects": objects.collect::<Vec<_>>() });
        if let Some(next) = found.next {
            page["next"] = next.into();
        }
        Some(page)
    }

    /// The size of an object and its first bytes, at most `at_most`. `None` if it does not exist.
    ///
    /// # Errors
    /// Its file cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn beginning(
        &self,
        bucket: &str,
        key: &str,
        at_most: u64,
    ) -> io::Result<Option<(u64, Vec<u8>)>> {
        let Some(object) = self.operations.store.bucket(bucket).and_then(|bucket| bucket.object(key)) else {
            return Ok(None);
        };
        let size = object.size();
        Ok(Some((size, read_all(&object, 0..size.min(at_most)).await?)))
    }
}

fn describe(bucket: &Bucket) -> Value {
    let (objects, bytes) =
        bucket.objects(|all| (all.len(), all.values().map(|object| object.size()).sum::<u64>()));
    let configuration = bucket.notifications();
    let rules = configuration.rules.iter().map(|rule| {
        json!({
            "id": rule.id,
            "target": rule.target.arn,
            "events": rule.events,
            "prefix": rule.filter.prefix,
            "suffix": rule.filter.suffix,
        })
    });
    json!({
        "name": bucket.name,
        "created": Timestamp::from_millis(bucket.created).to_string(),
        "objects": objects,
        "bytes": bytes,
        "notifications": rules.collect::<Vec<_>>(),
    })
}
