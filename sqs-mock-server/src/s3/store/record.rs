//! Records of objects and uploads.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Algorithm, DataFile, StoredChecksum};

/// Headers of an object, returned as the caller sent them.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub(in crate::s3) struct Attributes {
    pub(in crate::s3) metadata: BTreeMap<String, String>,
    pub(in crate::s3) cache_control: Option<String>,
    pub(in crate::s3) content_disposition: Option<String>,
    pub(in crate::s3) content_encoding: Option<String>,
    pub(in crate::s3) content_language: Option<String>,
    pub(in crate::s3) content_type: Option<String>,
    pub(in crate::s3) storage_class: Option<String>,
    pub(in crate::s3) server_side_encryption: Option<String>,
    pub(in crate::s3) kms_key_id: Option<String>,
}

/// A data file of an object: the whole body, or one part of a multipart upload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::s3) struct Segment {
    pub(in crate::s3) file: String,
    pub(in crate::s3) size: u64,
}

/// The record of an object on disk.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::s3) struct Record {
    pub(in crate::s3) key: String,
    pub(in crate::s3) etag: String,
    /// In milliseconds since the epoch.
    pub(in crate::s3) modified: u64,
    pub(in crate::s3) attributes: Attributes,
    pub(in crate::s3) checksum: Option<StoredChecksum>,
    pub(in crate::s3) segments: Vec<Segment>,
    /// Whether the object is the result of a multipart upload.
    pub(in crate::s3) multipart: bool,
}

impl Record {
    /// The size of the object in bytes.
    pub(in crate::s3) fn size(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }
}

/// An object with its data files, one for each segment.
#[derive(Debug)]
pub(in crate::s3) struct Object {
    pub(in crate::s3) record: Record,
    pub(in crate::s3) files: Vec<Arc<DataFile>>,
}

impl Object {
    /// Removes the data files once their last reader drops them.
    pub(super) fn delete_on_drop(&self) {
        self.files.iter().for_each(|file| file.delete_on_drop());
    }
}

/// A complete data file that no record refers to yet.
#[derive(Debug)]
pub(in crate::s3) struct Written {
    pub(in crate::s3) file: Arc<DataFile>,
    pub(in crate::s3) segment: Segment,
    pub(in crate::s3) md5: [u8; 16],
    pub(in crate::s3) checksum: Option<StoredChecksum>,
}

/// A multipart upload in progress.
#[derive(Clone, Debug)]
pub(in crate::s3) struct Upload {
    pub(in crate::s3) id: String,
    pub(in crate::s3) key: String,
    /// In milliseconds since the epoch.
    pub(in crate::s3) initiated: u64,
    pub(in crate::s3) attributes: Attributes,
    pub(in crate::s3) algorithm: Option<Algorithm>,
    /// Whether the checksum covers the whole object; otherwise it is a composite of the checksums of the parts.
    pub(in crate::s3) whole: bool,
    pub(in crate::s3) parts: BTreeMap<i32, Arc<Written>>,
}
