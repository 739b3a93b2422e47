//! Buckets and objects as values, for the admin API.

use std::io;
use std::ops::Bound;

use serde::Serialize;

use super::server::Content;
use super::store::{Bucket, Object, Pieces};
use crate::service::clock::Timestamp;

/// A bucket.
#[derive(Serialize)]
pub(crate) struct BucketDescription {
    name: String,
    created: String,
    objects: usize,
    bytes: u64,
    notifications: Vec<RuleDescription>,
}

/// A rule of a notification configuration.
#[derive(Serialize)]
struct RuleDescription {
    id: String,
    target: String,
    events: Vec<String>,
    prefix: Option<String>,
    suffix: Option<String>,
}

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
    pub(crate) fn describe_buckets(&self) -> Vec<BucketDescription> {
        self.store.buckets().iter().map(|bucket| describe(bucket)).collect()
    }

    /// The names of all buckets with the numbers of their objects.
    pub(crate) fn sizes(&self) -> Vec<(String, usize)> {
        let size = |bucket: &Bucket| bucket.objects(std::collections::BTreeMap::len);
        self.store.buckets().iter().map(|bucket| (bucket.name().to_owned(), size(bucket))).collect()
    }

    /// At most `limit` objects whose key begins with `prefix` and follows `after`. `None` if there is no such bucket.
    pub(crate) fn describe_objects(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Option<ObjectPage> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let mut objects: Vec<_> = self.store.bucket(bucket)?.objects(|all| {
            let found = all.range::<str, _>((start, Bound::Unbounded)).map(|(_, object)| object);
            let found = found.take_while(|object| object.record.key.starts_with(prefix));
            found.take(limit + 1).map(|object| ObjectDescription::of(object)).collect()
        });
        let has_more = objects.len() > limit;
        objects.truncate(limit);
        let next = objects.last().filter(|_| has_more).map(|last| last.key.clone());
        Some(ObjectPage { objects, next })
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
        let mut pieces = Pieces::of(&object, 0, size.min(at_most));
        let mut bytes = Vec::new();
        while let Some(chunk) = pieces.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some((size, bytes)))
    }
}

fn describe(bucket: &Bucket) -> BucketDescription {
    let (objects, bytes) =
        bucket.objects(|all| (all.len(), all.values().map(|object| object.record.size()).sum()));
    let configuration = bucket.notifications();
    let rules = configuration.rules.iter().map(|rule| RuleDescription {
        id: rule.id.clone(),
        target: rule.target.arn.clone(),
        events: rule.events.clone(),
        prefix: rule.filter.prefix.clone(),
        suffix: rule.filter.suffix.clone(),
    });
    BucketDescription {
        name: bucket.name().to_owned(),
        created: Timestamp::from_millis(bucket.created()).to_string(),
        objects,
        bytes,
        notifications: rules.collect(),
    }
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
