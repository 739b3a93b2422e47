//! Objects and uploads, and the data files of both.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use s3s::dto::{Metadata, ServerSideEncryption, StorageClass};
use serde::{Deserialize, Serialize};

use super::{Algorithm, StoredChecksum};

/// Headers of an object, returned as the caller sent them. The names are those of the inputs and outputs of s3s.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Attributes {
    pub(crate) metadata: Option<Metadata>,
    pub(crate) cache_control: Option<String>,
    pub(crate) content_disposition: Option<String>,
    pub(crate) content_encoding: Option<String>,
    pub(crate) content_language: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) storage_class: Option<StorageClass>,
    pub(crate) server_side_encryption: Option<ServerSideEncryption>,
    #[serde(rename = "kms_key_id")]
    pub(crate) ssekms_key_id: Option<String>,
}

impl Attributes {
    /// Removes `aws-chunked` from the `Content-Encoding`: it describes only the request.
    pub(crate) fn remove_chunks(&mut self) {
        let encoding = self.content_encoding.take().unwrap_or_default();
        let kept: Vec<_> = encoding.split(',').map(str::trim).filter(|part| *part != "aws-chunked").collect();
        self.content_encoding = Some(kept.join(",")).filter(|kept| !kept.is_empty());
    }
}

/// An object; its JSON is the record on disk.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Object {
    pub(crate) key: String,
    pub(crate) etag: String,
    /// In milliseconds since the epoch.
    pub(crate) modified: u64,
    pub(crate) attributes: Attributes,
    pub(crate) checksum: Option<StoredChecksum>,
    pub(crate) segments: Vec<Segment>,
    /// Whether the object is the result of a multipart upload.
    pub(crate) multipart: bool,
}

impl Object {
    /// The size of the object in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }

    /// Sets whether the drop of the last reader leaves the data files on disk.
    pub(super) fn keep_files(&self, keeps: bool) {
        self.segments.iter().for_each(|segment| segment.data.is_temporary.store(!keeps, Ordering::Release));
    }
}

/// A part of an object: the whole body, or one part of a multipart upload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Segment {
    /// The name of the data file.
    pub(super) file: String,
    /// In bytes.
    pub(crate) size: u64,
    #[serde(skip)]
    pub(super) data: Arc<DataFile>,
}

/// A data file. A reader holds it until it is done.
#[derive(Debug, Default)]
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    /// Whether the drop removes it, since no record on disk refers to it.
    pub(super) is_temporary: AtomicBool,
}

impl Drop for DataFile {
    fn drop(&mut self) {
        if *self.is_temporary.get_mut() {
            // If this fails, the next start removes the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A complete data file that no record refers to yet.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) segment: Segment,
    pub(crate) md5: [u8; 16],
    pub(crate) checksum: Option<StoredChecksum>,
}

/// A multipart upload in progress. It is only in memory: no record on disk refers to the data files of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) id: String,
    pub(crate) key: String,
    /// In milliseconds since the epoch.
    pub(crate) initiated: u64,
    pub(crate) attributes: Attributes,
    pub(crate) algorithm: Option<Algorithm>,
    /// Whether the checksum covers the whole object; otherwise it is a composite of the checksums of the parts.
    pub(crate) whole: bool,
    pub(crate) parts: BTreeMap<i32, Written>,
}
