//! An object to be written.

use std::collections::HashMap;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, Error as Foreign, GetOptions, MultipartUpload, ObjectStore,
    PutMode, PutMultipartOptions, PutOptions, PutPayload,
};

use super::error::failed;
use super::{metadata, with_underscores};
use crate::error::Error;
use crate::pointer::Pointer;
use crate::store::mark;
use crate::store::parts::Part;

/// The location and the description of a new object.
pub(super) struct Target {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) at: Pointer,
    pub(super) path: Path,
    pub(super) content_type: Option<String>,
    pub(super) metadata: HashMap<String, String>,
}

/// Why a write failed.
pub(super) enum Unwritten {
    /// There is no object.
    Certainly(Error),
    /// The store may have written the object.
    Possibly(Error),
}

impl Target {
    /// The action, for error texts.
    pub(super) fn what(&self) -> String {
        format!("writing {}", self.at)
    }

    /// Writes the object in one request.
    pub(super) async fn put(&self, part: &Part) -> Result<(), Unwritten> {
        let put = async |attributes| {
            let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
            self.store.put_opts(&self.path, payload(part), options).await.map(drop)
        };
        let written = match put(self.attributes()).await {
            Err(error) if keeps_none(&error) => put(Attributes::default()).await,
            result => result,
        };
        written.map_err(|error| {
            // There is no bucket, or no request was made.
            let is_certain =
                keeps_none(&error) || matches!(error, Foreign::NotFound { .. } | Foreign::InvalidPath { .. });
            let error = failed(&self.what(), error);
            // Stores retry requests themselves, so an earlier attempt may have been executed.
            if is_certain { Unwritten::Certainly(error) } else { Unwritten::Possibly(error) }
        })
    }

    /// Begins a multipart upload.
    pub(super) async fn begin(&self) -> Result<Box<dyn MultipartUpload>, Foreign> {
        let begin = async |attributes| {
            let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
            self.store.put_multipart_opts(&self.path, options).await
        };
        match begin(self.attributes()).await {
            Err(error) if keeps_none(&error) => begin(Attributes::default()).await,
            result => result,
        }
    }

    /// The outcome of a write that the store may have executed: looks for the object.
    pub(super) async fn settle(&self, error: Error) -> Result<(), Error> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let found = self.store.get_opts(&self.path, options).await.ok();
        mark::settle(error, found.and_then(|found| mark::is_of(&metadata(&found.attributes), &self.metadata)))
    }

    fn attributes(&self) -> Attributes {
        let content_type = self.content_type.iter().map(|value| (Attribute::ContentType, value));
        let named = self.metadata.iter();
        let named = named.map(|(name, value)| (Attribute::Metadata(with_underscores(name).into()), value));
        content_type.chain(named).map(|(name, value)| (name, AttributeValue::from(value.clone()))).collect()
    }
}

/// Whether the store supports no attributes.
fn keeps_none(error: &Foreign) -> bool {
    matches!(error, Foreign::NotImplemented { .. } | Foreign::NotSupported { .. })
}

pub(super) fn payload(part: &Part) -> PutPayload {
    part.pieces().iter().cloned().collect()
}
