//! Lists in pages of 100.

use super::QueryError;
use crate::sns::engine::refusal::invalid;

const PAGE: usize = 100;

/// One page of a list.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// For the next page; `None` on the last.
    pub(super) token: Option<String>,
}

/// The page that begins after a token. `items` are sorted by their keys; a token contains the last key of a page, so
/// that items which are added or removed meanwhile move no others.
///
/// # Errors
/// `InvalidParameter` for a token that no page has.
pub(super) fn page<T>(
    items: impl Iterator<Item = T>,
    key_of: impl Fn(&T) -> String,
    token: Option<&str>,
) -> Result<Page<T>, QueryError> {
    let after = token.filter(|token| !token.is_empty()).map(decode).transpose()?;
    let is_due = |item: &T| after.as_ref().is_none_or(|after| key_of(item) > *after);
    let mut due = items.filter(is_due);
    let items: Vec<_> = due.by_ref().take(PAGE).collect();
    let has_more = due.next().is_some();
    drop(due);
    let last = items.last().filter(|_| has_more);
    let token = last.map(|item| base64_simd::URL_SAFE_NO_PAD.encode_to_string(key_of(item)));
    Ok(Page { items, token })
}

fn decode(token: &str) -> Result<String, QueryError> {
    let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(token).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| invalid("NextToken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_100_items_and_the_last_has_no_token() {
        let names: Vec<_> = (0..250).map(|number| format!("{number:03}")).collect();
        let (mut found, mut sizes, mut token) = (Vec::new(), Vec::new(), None);
        loop {
            let page = page(names.iter(), |name| (*name).clone(), token.as_deref()).unwrap();
            sizes.push(page.items.len());
            found.extend(page.items.into_iter().cloned());
            token = page.token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!((found, sizes), (names.clone(), vec![100, 100, 50]));
        assert!(page(names.iter(), |name| (*name).clone(), Some("!")).is_err());
    }
}
