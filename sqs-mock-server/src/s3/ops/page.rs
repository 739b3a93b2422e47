//! Pagination of listings, with prefixes and delimiters.

use std::collections::BTreeMap;
use std::ops::Bound;

use base64_simd::URL_SAFE_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that listings encode.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The parameters of a listing.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::s3) struct Query<'a> {
    pub(in crate::s3) prefix: &'a str,
    pub(in crate::s3) delimiter: Option<&'a str>,
    /// The last entry of the previous page.
    pub(in crate::s3) after: Option<&'a str>,
    pub(in crate::s3) limit: usize,
}

/// One page: rows and common prefixes, both sorted.
#[derive(Debug, Eq, PartialEq)]
pub(in crate::s3) struct Page<T> {
    pub(in crate::s3) rows: Vec<T>,
    pub(in crate::s3) prefixes: Vec<String>,
    /// The last entry of this page, if there are more pages.
    pub(in crate::s3) next: Option<String>,
}

impl Query<'_> {
    /// Selects a page of `all`.
    pub(in crate::s3) fn page<V: Clone>(&self, all: &BTreeMap<String, V>) -> Page<V> {
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

/// Encodes a key as a continuation token, because XML cannot represent all characters of keys.
pub(super) fn token(key: &str) -> String {
    URL_SAFE_NO_PAD.encode_to_string(key)
}

/// Decodes a continuation token.
pub(super) fn of_token(token: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode_to_vec(token).ok()?).ok()
}

/// Percent-encodes a text.
pub(super) fn url_encoded(text: &str) -> String {
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
