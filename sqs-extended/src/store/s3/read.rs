//! Reading objects.

use std::ops::Range;
use std::pin::Pin;

use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::ByteStream as Body;
use futures_util::{StreamExt as _, stream};

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::s3::{Asked, S3Store, What};
use crate::store::{ByteStream, Object};

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
    fn range_that_begins_elsewhere_is_rejected() {
        assert_eq!(whole_length("bytes 5-9/10", 5), Some(10));
        for wrong in ["bytes 4-9/10", "bytes 5-9/*", "5-9/10", "bytes */10", ""] {
            assert_eq!(whole_length(wrong, 5), None, "{wrong}");
        }
    }
}
