//! Reading and listing objects.

use std::borrow::Cow;
use std::ops::Range;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::{ByteStream as Body, DateTime};
use aws_sdk_s3::types::EncodingType;
use futures_util::{StreamExt as _, stream};
use percent_encoding::percent_decode_str;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::mark::with_hyphens;
use crate::store::s3::{Asked, S3Store, What};
use crate::store::{ByteStream, Listed, Object, ObjectPage};

impl S3Store {
    pub(crate) async fn read(
        &self,
        at: &Pointer,
        range: Option<Range<u64>>,
        tag: Option<&str>,
    ) -> Result<Object, Error> {
        let asked = Asked::of(What::Read, at);
        let header =
            range.as_ref().map(|range| format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
        let Range { start, end } = range.unwrap_or(0..u64::MAX);
        let request = self.client(at.bucket()).get_object().bucket(at.bucket()).key(at.key());
        let request = request.set_range(header).set_if_match(tag.map(str::to_owned));
        let answer = request.set_expected_bucket_owner(self.owner(at.bucket())).send().await;
        let mut object = object(asked, start, tag, answer.map_err(|error| asked.failed(error))?)?;
        object.body = cut(object.body, end.saturating_sub(start));
        Ok(object)
    }

    pub(crate) async fn page(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<ObjectPage, Error> {
        let asked = Asked { what: What::List, bucket, key: prefix };
        let request = self.client(bucket).list_objects_v2().bucket(bucket).prefix(prefix).max_keys(1_000);
        let request = request.encoding_type(EncodingType::Url);
        let request = request.set_continuation_token(page.map(str::to_owned));
        let answer = request.set_expected_bucket_owner(self.owner(bucket)).send().await;
        let answer = answer.map_err(|error| asked.failed(error))?;
        let encoding = answer.encoding_type;
        let objects = answer.contents.unwrap_or_default().into_iter().filter_map(|object| {
            let length = u64::try_from(object.size.unwrap_or_default()).unwrap_or_default();
            Some(Listed::new(
                key(object.key?, encoding.as_ref())?,
                length,
                time(object.last_modified.as_ref()),
            ))
        });
        let more = answer.is_truncated.unwrap_or_default();
        let next = answer.next_continuation_token.filter(|_| more);
        if more && next.is_none() {
            return Err(
                asked.wrong(ErrorKind::Rejected, "the listing is truncated without a continuation token")
            );
        }
        Ok(ObjectPage::new(objects.collect(), next))
    }
}

/// A key in a listing. Keys may have characters that XML cannot contain, so they are requested URL-encoded. Services that do not
/// support this return them as they are.
fn key(listed: String, encoding: Option<&EncodingType>) -> Option<String> {
    if encoding != Some(&EncodingType::Url) {
        return Some(listed);
    }
    // A space is a plus, as in forms. Keys are UTF-8.
    let spaced = listed.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(Cow::into_owned)
}

/// An object without a time counts as new, so that no sweep deletes it.
fn time(modified: Option<&DateTime>) -> SystemTime {
    let far = || SystemTime::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
    modified.and_then(|time| SystemTime::try_from(*time).ok()).unwrap_or_else(far)
}

/// Some services ignore ranges and conditions.
fn object(asked: Asked<'_>, from: u64, tag: Option<&str>, answer: GetObjectOutput) -> Result<Object, Error> {
    if tag.is_some() && answer.e_tag.is_some() && tag != answer.e_tag.as_deref() {
        return Err(asked.wrong(ErrorKind::Damaged, "the object was overwritten"));
    }
    let length = match answer.content_range.as_deref() {
        Some(range) => whole_length(range, from),
        None if from == 0 => answer.content_length.and_then(|length| u64::try_from(length).ok()),
        None => None,
    };
    let length = length.ok_or_else(|| {
        let says = format!("the response does not start at byte {from} or has no length");
        asked.wrong(ErrorKind::Rejected, says)
    })?;
    let mut object = Object::new(length, stream(asked, answer.body));
    object.tag = answer.e_tag;
    object.metadata = with_hyphens(answer.metadata.unwrap_or_default());
    Ok(object)
}

/// The total length in a `Content-Range` such as `bytes 5-9/10`, if the range begins at `from`.
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
                let says = format!("{asked}: the response body broke off");
                Error::new(ErrorKind::Unavailable, says).caused_by(error)
            })
        })
        .boxed()
}

/// The first `length` bytes of a body.
fn cut(body: ByteStream, length: u64) -> ByteStream {
    stream::unfold((body, length), |(mut body, left)| async move {
        if left == 0 {
            return None;
        }
        let piece = body.next().await?.map(|mut piece| {
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            piece
        });
        let taken = piece.as_ref().map_or(left, |piece| u64::try_from(piece.len()).unwrap_or(left));
        Some((piece, (body, left - taken)))
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded_if_the_response_says_that_they_are_encoded() {
        for (listed, is) in
            [("a%20b%2B%C3%BC/%25", "a b+\u{fc}/%"), ("a+b", "a b"), ("%01", "\u{1}"), ("50%", "50%")]
        {
            assert_eq!(key(listed.to_owned(), Some(&EncodingType::Url)).as_deref(), Some(is));
            assert_eq!(key(listed.to_owned(), None).as_deref(), Some(listed));
        }
        assert_eq!(key("%FF".to_owned(), Some(&EncodingType::Url)), None);
    }

    #[test]
    fn range_that_begins_elsewhere_is_rejected() {
        assert_eq!(whole_length("bytes 5-9/10", 5), Some(10));
        for wrong in ["bytes 4-9/10", "bytes 5-9/*", "5-9/10", "bytes */10", ""] {
            assert_eq!(whole_length(wrong, 5), None, "{wrong}");
        }
    }

    #[test]
    fn object_without_a_time_is_not_old() {
        assert!(time(None) > time(Some(&DateTime::from_secs(2_000_000_000))));
    }
}
