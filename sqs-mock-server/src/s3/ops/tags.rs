//! Tags of objects: the header `x-amz-tagging`, `PutObjectTagging`, `GetObjectTagging` and `DeleteObjectTagging`.

use std::sync::Arc;

use http::StatusCode;
use s3s::dto::{
    DeleteObjectTaggingInput, DeleteObjectTaggingOutput, GetObjectTaggingInput, GetObjectTaggingOutput,
    PutObjectTaggingInput, PutObjectTaggingOutput, Tag,
};
use s3s::{S3Error, S3ErrorCode, S3Request, S3Result, s3_error};

use crate::s3::RequestContext;
use crate::s3::notifications::{Change, Changed, Configuration, MALFORMED_XML, TAGGING_DELETE, TAGGING_PUT};
use crate::s3::ops::{Operations, no_such_key, refused};
use crate::s3::store::object::{Object, Tags};

/// Limits, the last two in UTF-16 code units: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html>.
const MAX_TAGS: usize = 10;

const MAX_KEY: usize = 128;

const MAX_VALUE: usize = 256;

/// The start of keys that only AWS sets.
const RESERVED: &str = "aws:";

/// The header with the tags of a new object.
const HEADER: &str = "x-amz-tagging";

impl Operations {
    pub(crate) fn put_object_tagging(
        &self,
        request: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<PutObjectTaggingOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let tags = of_document(&context, input.tagging.tag_set)?;
        self.set_tags(&context, (&input.bucket, &input.key), tags, TAGGING_PUT)?;
        Ok(PutObjectTaggingOutput::default())
    }

    pub(crate) fn get_object_tagging(
        &self,
        request: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<GetObjectTaggingOutput> {
        let GetObjectTaggingInput { bucket, key, .. } = request.input;
        let object = self.object(&bucket, &key)?;
        let tags =
            object.tags.iter().map(|(key, value)| Tag { key: Some(key.clone()), value: Some(value.clone()) });
        Ok(GetObjectTaggingOutput { tag_set: tags.collect(), version_id: None })
    }

    pub(crate) fn delete_object_tagging(
        &self,
        request: S3Request<DeleteObjectTaggingInput>,
    ) -> S3Result<DeleteObjectTaggingOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        self.set_tags(&context, (&input.bucket, &input.key), Tags::new(), TAGGING_DELETE)?;
        Ok(DeleteObjectTaggingOutput::default())
    }

    /// Replaces the tags of an object, and sends the event. The date of the object stays.
    fn set_tags(
        &self,
        context: &Arc<RequestContext>,
        (bucket, key): (&str, &str),
        tags: Tags,
        event: &'static str,
    ) -> S3Result<()> {
        let bucket = self.bucket(bucket)?;
        let announce = |rules: &Configuration, object: &Object| {
            let change = Change { name: event, object: Changed::Tags { etag: &object.etag } };
            self.outbox.send(context, (&bucket.name, self.region(&bucket)), rules, key, change);
        };
        let is_found = bucket.set_tags(key, tags, announce).map_err(refused)?;
        is_found.then_some(()).ok_or_else(no_such_key)
    }
}

/// The tags of a document.
fn of_document(context: &RequestContext, tags: Vec<Tag>) -> S3Result<Tags> {
    if tags.len() > MAX_TAGS {
        return Err(too_many());
    }
    let mut found = Tags::new();
    for Tag { key, value } in tags {
        let Some((key, value)) = key.zip(value) else {
            return Err(s3_error!(MalformedXML, "{MALFORMED_XML}"));
        };
        let problem = if found.contains_key(&key) {
            Some("Cannot provide multiple Tags with the same key")
        } else if key.starts_with(RESERVED) {
            Some("Your TagKey cannot be prefixed with aws:")
        } else if !is_key(&key) {
            Some("The TagKey you have provided is invalid")
        } else if !is_value(&value) {
            context.add_error_element("TagValue", &value);
            Some("The TagValue you have provided is invalid")
        } else {
            None
        };
        if let Some(problem) = problem {
            context.add_error_element("TagKey", &key);
            return Err(s3_error!(InvalidTag, "{problem}"));
        }
        found.insert(key, value);
    }
    Ok(found)
}

/// The tags of the header `x-amz-tagging`, which has the form of a query.
///
/// # Errors
/// As on S3, which does not say which of the tags is invalid.
pub(crate) fn of_header(context: &RequestContext, header: Option<&str>) -> S3Result<Tags> {
    let mut found = Tags::new();
    let header = header.unwrap_or_default();
    for (key, value) in form_urlencoded::parse(header.as_bytes()) {
        let is_valid = is_key(&key) && is_value(&value) && !key.starts_with(RESERVED);
        if !is_valid || found.insert(key.into_owned(), value.into_owned()).is_some() {
            context.add_error_element("ArgumentName", HEADER);
            context.add_error_element("ArgumentValue", header);
            return Err(s3_error!(
                InvalidArgument,
                "The header '{HEADER}' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name \
                 duplicates."
            ));
        }
        if found.len() > MAX_TAGS {
            return Err(too_many());
        }
    }
    Ok(found)
}

fn too_many() -> S3Error {
    let code = S3ErrorCode::Custom("BadRequest".into());
    let mut error = S3Error::with_message(code, format!("Object tags cannot be greater than {MAX_TAGS}"));
    error.set_status_code(StatusCode::BAD_REQUEST);
    error
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.encode_utf16().count() <= MAX_KEY && text.chars().all(is_allowed)
}

fn is_value(text: &str) -> bool {
    text.encode_utf16().count() <= MAX_VALUE && text.chars().all(is_allowed)
}

/// Letters, digits, spaces and some signs.
fn is_allowed(one: char) -> bool {
    one.is_alphanumeric() || (one.is_whitespace() && !one.is_control()) || "+-=._:/@".contains(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Vec<Tag> {
        let tag = |(key, value): &(&str, &str)| Tag {
            key: Some((*key).to_owned()),
            value: Some((*value).to_owned()),
        };
        pairs.iter().map(tag).collect()
    }

    #[test]
    fn keys_and_values_have_the_lengths_and_characters_of_s3() {
        let context = RequestContext::default();
        let (key, value) = ("k".repeat(MAX_KEY), "v".repeat(MAX_VALUE));
        for valid in [("a", ""), ("ü 日本", "+-=._:/@"), (&key, &value)] {
            assert_eq!(of_document(&context, tags(&[valid])).unwrap().len(), 1, "{valid:?}");
        }
        let (long_key, long_value) = (format!("{key}k"), format!("{value}v"));
        let (bad_key, bad_value) =
            ("The TagKey you have provided is invalid", "The TagValue you have provided is invalid");
        for (tag, expected) in [
            (("", "v"), bad_key),
            ((&*long_key, "v"), bad_key),
            (("a,b", "v"), bad_key),
            (("a\tb", "v"), bad_key),
            (("a", "b&c"), bad_value),
            (("a", &*long_value), bad_value),
            (("aws:a", "v"), "Your TagKey cannot be prefixed with aws:"),
        ] {
            let error = of_document(&context, tags(&[tag])).unwrap_err();
            assert_eq!(
                (error.code(), error.message()),
                (&S3ErrorCode::InvalidTag, Some(expected)),
                "{tag:?}"
            );
        }
        let twice = of_document(&context, tags(&[("a", "1"), ("a", "2")])).unwrap_err();
        assert_eq!(twice.message(), Some("Cannot provide multiple Tags with the same key"));
    }

    #[test]
    fn header_is_a_query_without_duplicates() {
        let context = RequestContext::default();
        let found = of_header(&context, Some("a=1&b+c=%C3%BC&d")).unwrap();
        let expected = [("a", "1"), ("b c", "ü"), ("d", "")];
        assert!(found.iter().map(|(key, value)| (key.as_str(), value.as_str())).eq(expected), "{found:?}");
        assert!(of_header(&context, None).unwrap().is_empty());
        for invalid in ["a=1&a=2", "=1", "a=%FF", "aws:a=1", "a=1,b=2"] {
            let error = of_header(&context, Some(invalid)).unwrap_err();
            assert_eq!(error.code(), &S3ErrorCode::InvalidArgument, "{invalid}");
        }
        let eleven: Vec<_> = (0..=MAX_TAGS).map(|at| format!("k{at}=v")).collect();
        let error = of_header(&context, Some(&eleven.join("&"))).unwrap_err();
        assert_eq!(error.message(), Some("Object tags cannot be greater than 10"));
    }
}
