//! Pages of a list of keys, some of which are rolled up.

use std::collections::BTreeMap;
use std::ops::Bound;

use base64_simd::URL_SAFE_NO_PAD;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Query<'a> {
    pub(super) prefix: &'a str,
    pub(super) delimiter: Option<&'a str>,
    /// What the page before ended with.
    pub(super) after: Option<&'a str>,
    pub(super) at_most: usize,
}

/// Keys, and what others are rolled up to, both in order.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Page<T> {
    pub(super) rows: Vec<T>,
    pub(super) prefixes: Vec<String>,
    /// What the page ends with, when there is more.
    pub(super) next: Option<String>,
}

impl Query<'_> {
    /// The page of these keys.
    pub(super) fn page<V: Clone>(&self, all: &BTreeMap<String, V>) -> Page<V> {
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
            let rolled = self.rolled_up(key);
            // What is rolled up is there once, on this page or the one before.
            if rolled.is_some()
                && (rolled == self.after || rolled == page.prefixes.last().map(String::as_str))
            {
                continue;
            }
            if page.rows.len() + page.prefixes.len() == self.at_most {
                page.next = last;
                break;
            }
            last = Some(rolled.unwrap_or(key).to_owned());
            match rolled {
                Some(rolled) => page.prefixes.push(rolled.to_owned()),
                None => page.rows.push(value.clone()),
            }
        }
        page
    }

    /// The key up to the first delimiter behind the prefix.
    fn rolled_up<'k>(&self, key: &'k str) -> Option<&'k str> {
        let delimiter = self.delimiter.filter(|delimiter| !delimiter.is_empty())?;
        let rest = key.get(self.prefix.len()..)?;
        key.get(..self.prefix.len() + rest.find(delimiter)? + delimiter.len())
    }
}

/// A key as a token: XML cannot hold all characters that keys have.
pub(super) fn token(key: &str) -> String {
    URL_SAFE_NO_PAD.encode_to_string(key)
}

/// The key in a token.
pub(super) fn of_token(token: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode_to_vec(token).ok()?).ok()
}

/// A text as URLs have it.
pub(super) fn url_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(all: &[&str]) -> BTreeMap<String, String> {
        all.iter().map(|key| ((*key).to_owned(), (*key).to_owned())).collect()
    }

    /// All pages, each with its keys and what is rolled up.
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
    fn keys_come_in_order_and_each_on_one_page() {
        let query = Query { at_most: 2, ..Query::default() };
        assert_eq!(pages(query, &["b", "a", "c"]), [page(&["a", "b"], &[]), page(&["c"], &[])]);
        assert_eq!(pages(query, &["b", "a"]), [page(&["a", "b"], &[])]);
    }

    #[test]
    fn keys_behind_a_delimiter_are_rolled_up_once() {
        let all = ["a", "b/1", "b/2", "b/3", "c", "d/1", "d/2"];
        for (at_most, expected) in [
            (9, vec![page(&["a", "c"], &["b/", "d/"])]),
            (2, vec![page(&["a"], &["b/"]), page(&["c"], &["d/"])]),
            (1, vec![page(&["a"], &[]), page(&[], &["b/"]), page(&["c"], &[]), page(&[], &["d/"])]),
        ] {
            let query = Query { delimiter: Some("/"), at_most, ..Query::default() };
            assert_eq!(pages(query, &all), expected, "{at_most}");
        }
    }

    #[test]
    fn prefix_and_start_are_kept_to() {
        let all = keys(&["a/1", "b/1", "b/2", "b/x/1", "c"]);
        let query = Query { prefix: "b/", delimiter: Some("/"), after: Some("b/1"), at_most: 9 };
        let found = query.page(&all);
        assert_eq!((found.rows, found.prefixes), page(&["b/2"], &["b/x/"]));
        let before = Query { after: Some("a"), ..query }.page(&all);
        assert_eq!((before.rows, before.prefixes), page(&["b/1", "b/2"], &["b/x/"]));
    }

    #[test]
    fn token_holds_any_key() {
        for key in ["", "a/b", "ü\u{1}\n", "100%+"] {
            assert_eq!(of_token(&token(key)).as_deref(), Some(key));
        }
        assert_eq!(of_token("not a token"), None);
        assert_eq!(url_encoded("a b+ü/%"), "a%20b%2B%C3%BC/%25");
    }
}
