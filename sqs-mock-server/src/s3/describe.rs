//! Buckets and objects as values, for the admin API.

use std::io;

use serde::Serialize;
use serde_json::{Value, json};

use super::ops::Query;
use super::server::Content;
use super::store::{Bucket, Object, Pieces};
use crate::service::clock::Timestamp;

/// A page of objects.
#[derive(Serialize)]
pub(crate) struct ObjectPage {
    objects: Vec<ObjectDescription>,
    /// The last key; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// An object without its content.
#[derive(Serialize)]
struct ObjectDescription {
    key: String,
    size: u64,
    etag: String,
    modified: String,
    content_type: Option<String>,
}

impl Content {
    /// All buckets, sorted by name.
    pub(crate) fn describe_buckets(&self) -> Vec<Value> {
        self.store.buckets().iter().map(|bucket| describe(bucket)).collect()
    }

    /// The names of all buckets with the numbers of their objects.
    pub(crate) fn sizes(&self) -> Vec<(String, usize)> {
        let size = |bucket: &Bucket| bucket.objects(std::collections::BTreeMap::len);
        self.store.buckets().iter().map(|bucket| (bucket.name.clone(), size(bucket))).collect()
    }

    /// At most `limit` objects whose key begins with `prefix` and follows `after`. `None` if there is no such bucket.
    pub(crate) fn describe_objects(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Option<ObjectPage> {
        let query = Query { prefix, delimiter: None, after, limit };
        let page = self.store.bucket(bucket)?.objects(|all| query.page(all));
        let objects = page.rows.iter().map(|object| ObjectDescription::of(object)).collect();
        Some(ObjectPage { objects, next: page.next })
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
        let Some(object) = self.store.bucket(bucket).and_then(|bucket| bucket.object(key)) else {
            return Ok(None);
        };
        let size = object.record.size();
        let bytes = Pieces::of(&object, 0, size.min(at_most)).read().await?;
        Ok(Some((size, bytes)))
    }
}

fn describe(bucket: &Bucket) -> Value {
    let (objects, bytes) =
        bucket.objects(|all| (all.len(), all.values().map(|object| object.record.size()).sum::<u64>()));
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

impl ObjectDescription {
    fn of(object: &Object) -> Self {
        let record = &object.record;
        Self {
            key: record.key.clone(),
            size: record.size(),
            etag: record.etag.clone(),
            modified: Timestamp::from_millis(record.modified).to_string(),
            content_type: record.attributes.content_type.clone(),
        }
    }
}
