//! Uploads in parts that were begun and never ended.

use aws_sdk_s3::error::ProvideErrorMetadata as _;
use aws_sdk_s3::types::EncodingType;

use super::error::{Asked, What};
use super::read::{next_page, time};
use super::{S3Store, shown};
use crate::pointer::Pointer;
use crate::store::{StoreError, StoreErrorKind, Unfinished, UnfinishedPage};

impl S3Store {
    /// S3 goes on behind an upload, which its key and its id name: a page is both, as JSON.
    pub(super) async fn uploads(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<UnfinishedPage, StoreError> {
        let asked = Asked { what: What::List, bucket, key: prefix };
        let (key, id) = match page.map(serde_json::from_str::<(String, Option<String>)>) {
            None => (None, None),
            Some(Ok((key, id))) => (Some(key), id),
            Some(Err(_)) => return Err(asked.wrong(StoreErrorKind::Refused, "this is no page of uploads")),
        };
        let request = self.client().list_multipart_uploads().bucket(bucket).prefix(prefix).max_uploads(1_000);
        let request = request.encoding_type(EncodingType::Url);
        let request = request.set_key_marker(key).set_upload_id_marker(id);
        let answer = request.set_expected_bucket_owner(self.owner()).send().await;
        let answer = answer.map_err(|error| asked.failed(error))?;
        let encoding = answer.encoding_type;
        let key = |shown| shown::key(shown, encoding.as_ref());
        let uploads = answer.uploads.unwrap_or_default().into_iter().filter_map(|upload| {
            Some(Unfinished::new(key(upload.key?)?, upload.upload_id?, time(upload.initiated.as_ref())))
        });
        let more = answer.is_truncated.unwrap_or_default();
        let next = next_page(asked, more, answer.next_key_marker.and_then(key))?;
        let next = next.map(|key| (key, answer.next_upload_id_marker));
        let next = next.and_then(|next| serde_json::to_string(&next).ok());
        Ok(UnfinishedPage::new(uploads.collect(), next))
    }

    pub(super) async fn end_upload(&self, at: &Pointer, id: &str) -> Result<(), StoreError> {
        let request = self.client().abort_multipart_upload().bucket(at.bucket()).key(at.key()).upload_id(id);
        match request.set_expected_bucket_owner(self.owner()).send().await {
            Err(error) if error.code() != Some("NoSuchUpload") => {
                Err(Asked::of(What::Delete, at).failed(error))
            }
            _ => Ok(()),
        }
    }
}
