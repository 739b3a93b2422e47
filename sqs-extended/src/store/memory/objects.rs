//! The objects in memory, and the number of calls. Pure.

use std::collections::{BTreeMap, HashMap};
use std::ops::{Bound, Range};
use std::time::SystemTime;

use bytes::Bytes;

use super::{StoreCall, StoreCalls};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::{Listed, ObjectPage};

/// Objects on a page of a listing.
const PAGE: usize = 1_000;

#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) bytes: Bytes,
    pub(super) tag: String,
    pub(super) content_type: Option<String>,
    pub(super) metadata: HashMap<String, String>,
    pub(super) modified: SystemTime,
}

impl Stored {
    pub(super) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
}

#[derive(Debug)]
pub(super) struct Objects {
    /// By bucket and key.
    by_place: BTreeMap<(String, String), Stored>,
    pub(super) calls: StoreCalls,
    versions: u64,
    pub(super) page: usize,
}

impl Default for Objects {
    fn default() -> Self {
        Self { by_place: BTreeMap::new(), calls: StoreCalls::default(), versions: 0, page: PAGE }
    }
}

fn place(at: &Pointer) -> (String, String) {
    (at.bucket().to_owned(), at.key().to_owned())
}

impl Objects {
    pub(super) fn count(&mut self, call: StoreCall) {
        let calls = &mut self.calls;
        let count = match call {
            StoreCall::Put => &mut calls.puts,
            StoreCall::Get => &mut calls.gets,
            StoreCall::Delete => &mut calls.deletes,
            StoreCall::List => &mut calls.lists,
        };
        *count += 1;
    }

    /// Writes an object. Fails if the key is taken.
    pub(super) fn put(
        &mut self,
        at: &Pointer,
        bytes: Bytes,
        content_type: Option<String>,
        metadata: HashMap<String, String>,
        modified: SystemTime,
    ) -> Result<(), Error> {
        if self.find(at).is_some() {
            return Err(Error::new(ErrorKind::Exists, format!("{at} exists already")));
        }
        self.versions += 1;
        let tag = format!("\"{}\"", self.versions);
        let stored = Stored { bytes, tag, content_type, metadata, modified };
        self.by_place.insert(place(at), stored);
        Ok(())
    }

    /// Replaces the bytes of an object, as a new version.
    pub(super) fn replace(&mut self, at: &Pointer, bytes: Bytes, now: SystemTime) {
        let metadata = self.remove(at).map(|old| old.metadata).unwrap_or_default();
        // The key is free now, so this cannot fail.
        let _ = self.put(at, bytes, None, metadata, now);
    }

    /// An object, and its bytes or a range of them.
    pub(super) fn get(
        &self,
        at: &Pointer,
        range: Option<Range<u64>>,
        tag: Option<&str>,
    ) -> Result<(Stored, Bytes), Error> {
        let error = |kind, text: &str| Error::new(kind, format!("{at}: {text}"));
        let stored = self.find(at).ok_or_else(|| error(ErrorKind::NotFound, "the object does not exist"))?;
        if tag.is_some_and(|tag| tag != stored.tag) {
            return Err(error(ErrorKind::Damaged, "the object has another version"));
        }
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(stored.bytes.len());
        let range = range.unwrap_or(0..stored.length());
        if range.start > stored.length() {
            return Err(error(ErrorKind::Rejected, "the range begins after the end of the object"));
        }
        Ok((stored.clone(), stored.bytes.slice(place(range.start)..place(range.end))))
    }

    pub(super) fn remove(&mut self, at: &Pointer) -> Option<Stored> {
        self.by_place.remove(&place(at))
    }

    pub(super) fn find(&self, at: &Pointer) -> Option<&Stored> {
        self.by_place.get(&place(at))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Pointer> {
        self.by_place.keys().map(|(bucket, key)| Pointer::new(bucket, key))
    }

    /// A page of objects. `after` is the last key of the previous page.
    pub(super) fn list(&self, bucket: &str, prefix: &str, after: Option<&str>) -> ObjectPage {
        let key = |key: &str| (bucket.to_owned(), key.to_owned());
        let start = after.map_or(Bound::Included(key(prefix)), |after| Bound::Excluded(key(after)));
        let matching = self
            .by_place
            .range((start, Bound::Unbounded))
            .take_while(|((of, key), _)| of == bucket && key.starts_with(prefix));
        let mut objects: Vec<_> = matching
            .take(self.page + 1)
            .map(|((_, key), stored)| Listed::new(key, stored.length(), stored.modified))
            .collect();
        let has_more = objects.len() > self.page;
        objects.truncate(self.page);
        let next = objects.last().filter(|_| has_more).map(|last| last.key.clone());
        ObjectPage::new(objects, next)
    }
}
