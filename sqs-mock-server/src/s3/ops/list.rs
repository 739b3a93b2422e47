//! `ListObjects`, `ListObjectsV2`, and pages of sorted keys with prefixes and delimiters.

use std::collections::BTreeMap;
use std::ops::Bound;

use base64_simd::URL_SAFE_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use s3s::dto::{
    CommonPrefix, ETag, EncodingType, ListObjectsInput, ListObjectsOutput, ListObjectsV2Input,
    ListObjectsV2Output, Object as Row, Owner,
};
use s3s::{S3Request, S3Result, s3_error};

use crate::s3::notifications::OWNER_ID;
use crate::s3::ops::{Operations, timestamp};
use crate::s3::store::object::{Object, StoredChecksum};

/// The largest page: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>.
const MAX_KEYS: i32 = 1000;

/// The characters that listings encode.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The parameters of a listing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Query<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) delimiter: Option<&'a str>,
    /// The last entry of the previous page.
    pub(crate) after: Option<&'a str>,
    pub(crate) limit: usize,
}

/// One page: rows and common prefixes, both sorted.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Page<T> {
    pub(crate) rows: Vec<T>,
    pub(crate) prefixes: Vec<String>,
    /// The last entry of this page, if there are more pages.
    pub(crate) next: Option<String>,
}

impl Query<'_> {
    /// Selects a page of `all`.
    pub(crate) fn page<V: Clone>(&self, all: &BTreeMap<String, V>) -> Page<V> {
        let mut page = Page { rows: Vec::new(), prefixes: Vec::new(), next: None };
        let mut last: Option<String> = None;
        let start = match self.after {
            Some(after) if after >= self.prefix => Bound::Excluded(after),
            _ => Bound::Included(self.prefix),
        };
        for (key, value) in all.range::<str, _>((start, Bound::Unbounded)) {
            if !key.starts_with(self.prefix) {
                break;
            }
            let common = self.common_prefix(key);
            // A common prefix appears once, on this page or the previous one.
            if common.is_some()
                && (common == self.after || common == page.prefixes.last().map(String::as_str))
            {
                continue;
            }
            if page.rows.len() + page.prefixes.len() == self.limit {
                page.next = last;
                break;
            }
            last = Some(common.unwrap_or(key).to_owned());
            match common {
                Some(common) => page.prefixes.push(common.to_owned()),
                None => page.rows.push(value.clone()),
            }
        }
        page
    }

    /// The common prefix of the key: up to and with the first delimiter after the prefix.
    fn common_prefix<'k>(&self, key: &'k str) -> Option<&'k str> {
        let delimiter = self.delimiter.filter(|delimiter| !delimiter.is_empty())?;
        let rest = key.get(self.prefix.len()..)?;
        key.get(..self.prefix.len() + rest.find(delimiter)? + delimiter.len())
    }
}

impl Operations {
    pub(crate) fn list_objects(&self, request: S3Request<ListObjectsInput>) -> S3Result<ListObjectsOutput> {
        let input = request.input;
        let shown = encoder(input.encoding_type.as_ref());
        let (max_keys, limit) = page_size("maxKeys", input.max_keys)?;
        let query = Query {
            prefix: input.prefix.as_deref().unwrap_or_default(),
            delimiter: input.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty()),
            after: input.marker.as_deref(),
            limit,
        };
        let page = self.bucket(&input.bucket)?.objects(|all| query.page(all));
        let rows = page.rows.iter().map(|object| row(object, shown(&object.key), Some(owner())));
        let prefixes = page.prefixes.iter().map(|prefix| CommonPrefix { prefix: shown(prefix) });
        Ok(ListObjectsOutput {
            max_keys: Some(max_keys),
            is_truncated: Some(page.next.is_some()),
            // Without a delimiter, callers take the last key.
            next_marker: page.next.as_deref().filter(|_| query.delimiter.is_some()).and_then(shown),
            contents: Some(rows.collect()),
            common_prefixes: Some(prefixes.collect()),
            delimiter: query.delimiter.and_then(shown),
            prefix: shown(query.prefix),
            marker: shown(query.after.unwrap_or_default()),
            encoding_type: input.encoding_type,
            name: Some(input.bucket),
            ..ListObjectsOutput::default()
        })
    }

    pub(crate) fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<ListObjectsV2Output> {
        let input = request.input;
        let shown = encoder(input.encoding_type.as_ref());
        let (max_keys, limit) = page_size("maxKeys", input.max_keys)?;
        let unknown = || s3_error!(InvalidArgument, "The continuation token provided is incorrect");
        let resumed = input.continuation_token.as_deref().map(|token| of_token(token).ok_or_else(unknown));
        let resumed = resumed.transpose()?;
        let query = Query {
            prefix: input.prefix.as_deref().unwrap_or_default(),
            delimiter: input.delimiter.as_deref(),
            after: resumed.as_deref().or(input.start_after.as_deref()),
            limit,
        };
        let owner = input.fetch_owner.unwrap_or(false).then(owner);
        let page = self.bucket(&input.bucket)?.objects(|all| query.page(all));
        Ok(ListObjectsV2Output {
            key_count: i32::try_from(page.rows.len() + page.prefixes.len()).ok(),
            max_keys: Some(max_keys),
            is_truncated: Some(page.next.is_some()),
            next_continuation_token: page.next.as_deref().map(token),
            contents: Some(
                page.rows.iter().map(|object| row(object, shown(&object.key), owner.clone())).collect(),
            ),
            common_prefixes: Some(
                page.prefixes.iter().map(|prefix| CommonPrefix { prefix: shown(prefix) }).collect(),
            ),
            continuation_token: input.continuation_token,
            delimiter: input.delimiter.as_deref().and_then(shown),
            prefix: shown(query.prefix),
            start_after: input.start_after.as_deref().and_then(shown),
            encoding_type: input.encoding_type,
            name: Some(input.bucket),
            ..ListObjectsV2Output::default()
        })
    }
}

/// The longest page of a request, as it is shown and as a number of rows. The error calls the parameter `name`.
pub(crate) fn page_size(name: &str, wanted: Option<i32>) -> S3Result<(i32, usize)> {
    let shown = wanted.unwrap_or(MAX_KEYS).min(MAX_KEYS);
    let negative =
        |_| s3_error!(InvalidArgument, "Argument {name} must be an integer between 0 and {}", i32::MAX);
    Ok((shown, usize::try_from(shown).map_err(negative)?))
}

/// Encodes the texts of a listing if the request wants it.
fn encoder(kind: Option<&EncodingType>) -> impl Fn(&str) -> Option<String> + Copy + use<> {
    let is_encoded = kind.is_some_and(|kind| kind.as_str() == EncodingType::URL);
    move |text| Some(if is_encoded { url_encoded(text) } else { text.to_owned() })
}

/// The owner of all objects.
pub(crate) fn owner() -> Owner {
    Owner { display_name: None, id: Some(OWNER_ID.to_owned()) }
}

/// An object in a listing.
fn row(object: &Object, key: Option<String>, owner: Option<Owner>) -> Row {
    let class = object.attributes.storage_class.as_ref().map_or("STANDARD", |class| class.as_str());
    let checksum = object.checksum.as_ref();
    Row {
        key,
        owner,
        e_tag: Some(ETag::Strong(object.etag.clone())),
        last_modified: Some(timestamp(object.modified)),
        size: i64::try_from(object.size()).ok(),
        storage_class: Some(class.to_owned().into()),
        checksum_algorithm: checksum.map(|checksum| vec![checksum.algorithm.name().to_owned().into()]),
        checksum_type: StoredChecksum::fields(checksum).checksum_type,
        ..Row::default()
    }
}

/// Encodes a key as a continuation token, because XML cannot represent all characters of keys.
fn token(key: &str) -> String {
    URL_SAFE_NO_PAD.encode_to_string(key)
}

/// Decodes a continuation token.
fn of_token(token: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode_to_vec(token).ok()?).ok()
}

/// Percent-encodes a text.
fn url_encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(all: &[&str]) -> BTreeMap<String, String> {
        all.iter().map(|key| ((*key).to_owned(), (*key).to_owned())).collect()
    }

    /// All pages, each with its rows and common prefixes.
    fn pages(query: Query<'_>, all: &[&str]) -> Vec<(Vec<String>, Vec<String>)> {
        let all = keys(all);
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = Query { after: after.as_deref(), ..query }.page(&all);
            found.push((page.rows, page.prefixes));
            after = page.next;
            if after.is_none() {
                return found;
            }
        }
    }

    fn page(rows: &[&str], prefixes: &[&str]) -> (Vec<String>, Vec<String>) {
        let owned = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        (owned(rows), owned(prefixes))
    }

    #[test]
    fn each_key_is_on_one_page_in_order() {
        let query = Query { limit: 2, ..Query::default() };
        assert_eq!(pages(query, &["b", "a", "c"]), [page(&["a", "b"], &[]), page(&["c"], &[])]);
        assert_eq!(pages(query, &["b", "a"]), [page(&["a", "b"], &[])]);
    }

    #[test]
    fn common_prefixes_appear_once() {
        let all = ["a", "b/1", "b/2", "b/3", "c", "d/1", "d/2"];
        for (limit, expected) in [
            (9, vec![page(&["a", "c"], &["b/", "d/"])]),
            (2, vec![page(&["a"], &["b/"]), page(&["c"], &["d/"])]),
            (1, vec![page(&["a"], &[]), page(&[], &["b/"]), page(&["c"], &[]), page(&[], &["d/"])]),
        ] {
            let query = Query { delimiter: Some("/"), limit, ..Query::default() };
            assert_eq!(pages(query, &all), expected, "{limit}");
        }
    }

    #[test]
    fn page_respects_prefix_and_start() {
        let all = keys(&["a/1", "b/1", "b/2", "b/x/1", "c"]);
        let query = Query { prefix: "b/", delimiter: Some("/"), after: Some("b/1"), limit: 9 };
        let found = query.page(&all);
        assert_eq!((found.rows, found.prefixes), page(&["b/2"], &["b/x/"]));
        let before = Query { after: Some("a"), ..query }.page(&all);
        assert_eq!((before.rows, before.prefixes), page(&["b/1", "b/2"], &["b/x/"]));
    }

    #[test]
    fn token_round_trips_any_key() {
        for key in ["", "a/b", "ü\u{1}\n", "100%+"] {
            assert_eq!(of_token(&token(key)).as_deref(), Some(key));
        }
        assert_eq!(of_token("not a token"), None);
        assert_eq!(url_encoded("a b+ü/%"), "a%20b%2B%C3%BC/%25");
    }
}
