//! What is known of objects, uploads and parts, as it is written down.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Algorithm, DataFile, Sum};

/// What a caller says about an object beside its bytes. All of it is given back as it came.
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

/// A part of an object's bytes, in a file of its own.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::s3) struct Segment {
    pub(in crate::s3) file: String,
    pub(in crate::s3) size: u64,
}

/// An object as it is written down.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::s3) struct Record {
    pub(in crate::s3) key: String,
    pub(in crate::s3) etag: String,
    /// In milliseconds since the epoch.
    pub(in crate::s3) modified: u64,
    pub(in crate::s3) attributes: Attributes,
    pub(in crate::s3) sum: Option<Sum>,
    pub(in crate::s3) segments: Vec<Segment>,
    /// Whether it was uploaded in parts.
    pub(in crate::s3) multipart: bool,
}

impl Record {
    /// Of all its bytes.
    pub(in crate::s3) fn size(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }
}

/// An object with its files, one for each segment.
#[derive(Debug)]
pub(in crate::s3) struct Object {
    pub(in crate::s3) record: Record,
    pub(in crate::s3) files: Vec<Arc<DataFile>>,
}

impl Object {
    /// Has its bytes removed once nobody reads them any more.
    pub(super) fn doom(&self) {
        self.files.iter().for_each(|file| file.doom());
    }
}

/// One part of an upload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::s3) struct Part {
    pub(in crate::s3) number: i32,
    pub(in crate::s3) md5: [u8; 16],
    pub(in crate::s3) sum: Option<Sum>,
    pub(in crate::s3) modified: u64,
    pub(in crate::s3) segment: Segment,
}

/// What was said when an upload began.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::s3) struct UploadHead {
    pub(in crate::s3) id: String,
    pub(in crate::s3) key: String,
    pub(in crate::s3) initiated: u64,
    pub(in crate::s3) attributes: Attributes,
    pub(in crate::s3) algorithm: Option<Algorithm>,
    /// Whether the checksum is that of the whole object, not of the checksums of its parts.
    pub(in crate::s3) whole: bool,
}

/// An upload that is under way.
#[derive(Clone, Debug)]
pub(in crate::s3) struct Upload {
    pub(in crate::s3) head: Arc<UploadHead>,
    pub(in crate::s3) parts: BTreeMap<i32, (Arc<Part>, Arc<DataFile>)>,
}
