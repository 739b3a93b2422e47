//! Reading and listing.

use std::pin::Pin;
use std::time::{Duration, SystemTime};

use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::{ByteStream as Body, DateTime};
use aws_sdk_s3::types::EncodingType;
use futures_util::{StreamExt as _, stream};

use super::error::{Asked, What};
use super::{S3Store, shown};
use crate::pointer::Pointer;
use crate::store::{ByteStream, Listed, Object, ObjectPage, StoreError, StoreErrorKind};

impl S3Store {
    pub(super) async fn read(
        &self,
        at: &Pointer,
        from: u64,
        range: Option<String>,
        tag: Option<&str>,
    ) -> Result<Object, StoreError> {
        let asked = Asked::of(What::Read, at);
        let request = self.client().get_object().bucket(at.bucket()).key(at.key());
        let request = request.set_range(range).set_if_match(tag.map(str::to_owned));
        let answer = request.set_expected_bucket_owner(self.owner()).send().await;
        object(asked, from, tag, answer.map_err(|error| asked.failed(error))?)
    }

    pub(super) async fn page(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<ObjectPage, StoreError> {
        let asked = Asked { what: What::List, bucket, key: prefix };
        let request = self.client().list_objects_v2().bucket(bucket).prefix(prefix).max_keys(1_000);
        let request = request.encoding_type(EncodingType::Url);
        let request = request.set_continuation_token(page.map(str::to_owned));
        let answer = request.set_expected_bucket_owner(self.owner()).send().await;
        let answer = answer.map_err(|error| asked.failed(error))?;
        let encoding = answer.encoding_type;
        let objects = answer.contents.unwrap_or_default().into_iter().filter_map(|object| {
            let length = u64::try_from(object.size.unwrap_or_default()).unwrap_or_default();
            Some(Listed::new(
                shown::key(object.key?, encoding.as_ref())?,
                length,
                time(object.last_modified.as_ref()),
            ))
        });
        let more = answer.is_truncated.unwrap_or_default();
        let next = next_page(asked, more, answer.next_continuation_token)?;
        Ok(ObjectPage::new(objects.collect(), next))
    }
}

/// Where a listing goes on. One that does not say where, and is not at its end, is no whole one.
pub(super) fn next_page<T>(asked: Asked<'_>, more: bool, next: Option<T>) -> Result<Option<T>, StoreError> {
    if more && next.is_none() {
        let says = "the listing is cut off and does not say where it goes on; what was found so far is not all there is";
        return Err(asked.wrong(StoreErrorKind::Refused, says));
    }
    Ok(next.filter(|_| more))
}

/// What has no time was written just now: nobody may take it for old.
pub(super) fn time(modified: Option<&DateTime>) -> SystemTime {
    let far = || SystemTime::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
    modified.and_then(|time| SystemTime::try_from(*time).ok()).unwrap_or_else(far)
}

/// Services that do not know ranges or conditions answer as if none had been asked for.
fn object(
    asked: Asked<'_>,
    from: u64,
    tag: Option<&str>,
    answer: GetObjectOutput,
) -> Result<Object, StoreError> {
    if tag.is_some() && answer.e_tag.is_some() && tag != answer.e_tag.as_deref() {
        return Err(asked.wrong(StoreErrorKind::Changed, "the object has been overwritten"));
    }
    let length = match answer.content_range.as_deref() {
        Some(range) => whole_length(range, from),
        None if from == 0 => answer.content_length.and_then(|length| u64::try_from(length).ok()),
        None => None,
    };
    let length = length.ok_or_else(|| {
        let says =
            format!("the answer does not say that it begins at byte {from} nor how long the object is");
        asked.wrong(StoreErrorKind::Refused, says)
    })?;
    let mut object = Object::new(length, stream(asked, answer.body));
    object.tag = answer.e_tag;
    object.content_encoding = answer.content_encoding;
    object.metadata = answer.metadata.unwrap_or_default();
    Ok(object)
}

/// Of `bytes 5-9/10` the 10, if it begins where it should.
fn whole_length(range: &str, from: u64) -> Option<u64> {
    let (range, length) = range.strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = range.split_once('-')?;
    (first.parse() == Ok(from)).then(|| length.parse().ok())?
}

fn stream(asked: Asked<'_>, mut body: Body) -> ByteStream {
    let asked = asked.to_string();
    stream::poll_fn(move |context| Pin::new(&mut body).poll_next(context))
        .map(move |piece| {
            piece.map_err(|error| {
                let says = format!("{asked}: the body broke off");
                StoreError::new(StoreErrorKind::Interrupted, says).caused_by(error)
            })
        })
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_begins_elsewhere_is_none() {
        assert_eq!(whole_length("bytes 5-9/10", 5), Some(10));
        for wrong in ["bytes 4-9/10", "bytes 5-9/*", "5-9/10", "bytes */10", ""] {
            assert_eq!(whole_length(wrong, 5), None, "{wrong}");
        }
    }

    #[test]
    fn what_has_no_time_is_not_old() {
        assert!(time(None) > time(Some(&DateTime::from_secs(2_000_000_000))));
    }
}
