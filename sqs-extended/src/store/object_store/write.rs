//! Writing an object, in one request if it fits into one part.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, Error as Foreign, MultipartUpload, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload,
};
use tokio::runtime::Handle;

use super::error::failed;
use super::with_underscores;
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::parts::{MAX_PARTS, Part, Source};
use crate::store::{TOKEN_METADATA, Upload};

const PART: usize = 8 << 20;
/// Parts that are uploaded at a time.
const IN_FLIGHT: usize = 4;

pub(super) async fn write(
    store: &Arc<dyn ObjectStore>,
    at: &Pointer,
    path: &Path,
    upload: Upload,
) -> Result<(), Error> {
    let Upload { body, length, content_type, metadata } = upload;
    let attributes = attributes(content_type, &metadata);
    let mut source = Source::new(body, length, PART);
    let first = source.part().await?.unwrap_or_default();
    let what = || format!("writing {at}");
    if !source.is_done() {
        let upload = begin(store, path, attributes).await.map_err(|error| failed(&what(), error))?;
        return Parts { upload: Some(upload), runtime: Handle::current() }.send(&what(), first, source).await;
    }
    match put(store, path, &first, attributes).await {
        Ok(()) => Ok(()),
        Err(error) => {
            let error = failed(&what(), error);
            match error.kind() {
                // The store may have executed an attempt whose response it lost.
                ErrorKind::Exists if is_of(store, path, &metadata).await => Ok(()),
                ErrorKind::Unavailable => Err(error.outcome_unknown()),
                _ => Err(error),
            }
        }
    }
}

fn attributes(content_type: Option<String>, metadata: &HashMap<String, String>) -> Attributes {
    let named = metadata.iter().map(|(name, value)| {
        (Attribute::Metadata(with_underscores(name).into()), AttributeValue::from(value.clone()))
    });
    content_type
        .into_iter()
        .map(|value| (Attribute::ContentType, AttributeValue::from(value)))
        .chain(named)
        .collect()
}

/// Some stores keep no attributes.
fn keeps_none(error: &Foreign) -> bool {
    matches!(error, Foreign::NotImplemented { .. } | Foreign::NotSupported { .. })
}

async fn put(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    part: &Part,
    attributes: Attributes,
) -> Result<(), Foreign> {
    let put = async |attributes| {
        let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
        store.put_opts(path, payload(part), options).await.map(drop)
    };
    match put(attributes).await {
        Err(error) if keeps_none(&error) => put(Attributes::default()).await,
        result => result,
    }
}

async fn begin(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    attributes: Attributes,
) -> Result<Box<dyn MultipartUpload>, Foreign> {
    let begin = async |attributes| {
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        store.put_multipart_opts(path, options).await
    };
    match begin(attributes).await {
        Err(error) if keeps_none(&error) => begin(Attributes::default()).await,
        result => result,
    }
}

async fn is_of(store: &Arc<dyn ObjectStore>, path: &Path, metadata: &HashMap<String, String>) -> bool {
    let options = object_store::GetOptions { head: true, ..object_store::GetOptions::default() };
    let Ok(found) = store.get_opts(path, options).await else { return false };
    let name = Attribute::Metadata(with_underscores(TOKEN_METADATA).into());
    let token = metadata.get(TOKEN_METADATA).map(String::as_str);
    token.is_some() && found.attributes.get(&name).map(AsRef::as_ref) == token
}

fn payload(part: &Part) -> PutPayload {
    part.pieces().iter().cloned().collect()
}

/// An upload in parts. It is aborted on drop.
struct Parts {
    upload: Option<Box<dyn MultipartUpload>>,
    runtime: Handle,
}

impl Parts {
    async fn send(mut self, what: &str, first: Part, source: Source) -> Result<(), Error> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let rest = stream::try_unfold(source, |mut source| async {
            Ok::<_, Error>(source.part().await?.map(|part| (part, source)))
        });
        let sending = stream::iter([Ok(first)]).chain(rest).enumerate().map(|(number, part)| {
            let part = part?;
            if number as u64 >= u64::from(MAX_PARTS) {
                let text = format!("{what}: more than {MAX_PARTS} parts: set the length of the payload");
                return Err(Error::new(ErrorKind::Rejected, text));
            }
            let sent = upload.put_part(payload(&part));
            Ok(async move { sent.await.map_err(|error| failed(what, error)) })
        });
        sending.try_buffer_unordered(IN_FLIGHT).try_collect::<()>().await?;
        // Whether it is executed is unknown until it responds.
        let completed = upload.complete().await;
        match completed {
            Ok(_) => {
                self.upload = None;
                Ok(())
            }
            Err(error) => Err(failed(what, error).outcome_unknown()),
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if let Some(mut upload) = self.upload.take() {
            self.runtime.spawn(async move {
                if let Err(error) = upload.abort().await {
                    tracing::warn!(%error, "an upload could not be aborted");
                }
            });
        }
    }
}
