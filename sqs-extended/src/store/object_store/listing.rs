//! Listings in pages.
//!
//! Stores list in any order, so a page cannot begin after a key: a listing stays open until its next page is requested.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{Error as Foreign, ObjectMeta, ObjectStore};
use parking_lot::Mutex;

use super::error::failed;
use crate::error::{Error, ErrorKind};
use crate::store::{Listed, ObjectPage};

/// Objects to examine per page.
const PAGE: usize = 1_000;
/// Listings that stay open. Above that, the oldest is closed.
const OPEN: usize = 16;

type Listing = BoxStream<'static, Result<ObjectMeta, Foreign>>;

/// The open listings, by the token of their next page.
#[derive(Default)]
pub(super) struct Listings(Mutex<Open>);

/// Locked for a few instructions.
#[derive(Default)]
struct Open {
    listings: VecDeque<(String, Listing)>,
    pages: u64,
}

impl Listings {
    pub(super) async fn page(
        &self,
        store: &Arc<dyn ObjectStore>,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<ObjectPage, Error> {
        let what = || format!("listing {prefix:?}");
        let mut listing = match page {
            None => store.list(folder(prefix)?.as_ref()),
            Some(page) => self.take(page).ok_or_else(|| {
                let text = format!("{}: page {page:?} is no longer open: begin again", what());
                Error::new(ErrorKind::Rejected, text)
            })?,
        };
        let mut objects = Vec::new();
        for _ in 0..PAGE {
            let Some(found) = listing.next().await else { return Ok(ObjectPage::new(objects, None)) };
            let found = found.map_err(|error| failed(&what(), error))?;
            if found.location.as_ref().starts_with(prefix) {
                let modified = found.last_modified.into();
                objects.push(Listed::new(found.location.as_ref(), found.size, modified));
            }
        }
        Ok(ObjectPage::new(objects, Some(self.keep(listing))))
    }

    fn take(&self, page: &str) -> Option<Listing> {
        let mut open = self.0.lock();
        let place = open.listings.iter().position(|(token, _)| token == page)?;
        open.listings.remove(place).map(|(_, listing)| listing)
    }

    /// Returns the token of the next page.
    fn keep(&self, listing: Listing) -> String {
        let mut open = self.0.lock();
        open.pages += 1;
        let token = open.pages.to_string();
        open.listings.push_back((token.clone(), listing));
        if open.listings.len() > OPEN {
            open.listings.pop_front();
        }
        token
    }
}

/// The folder that the keys of a prefix are in. Prefixes of stores are whole segments of a path.
pub(super) fn folder(prefix: &str) -> Result<Option<Path>, Error> {
    let Some((folder, _)) = prefix.rsplit_once('/') else { return Ok(None) };
    // Not `Path::from`, which encodes characters: keys have them as they are.
    Path::parse(folder).map(Some).map_err(|error| {
        let text = format!("prefix {prefix:?} is not a valid path: {error}");
        Error::new(ErrorKind::Rejected, text).caused_by(error)
    })
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    #[test]
    fn oldest_listing_is_closed_when_many_are_open() {
        let listings = Listings::default();
        let tokens: Vec<_> = (0..=OPEN).map(|_| listings.keep(stream::empty().boxed())).collect();
        let open: Vec<_> = tokens.iter().map(|token| listings.take(token).is_some()).collect();
        assert_eq!((open[0], open[1..].iter().all(|is_open| *is_open)), (false, true));
        assert!(listings.take(&tokens[1]).is_none(), "a page is read once");
    }

    #[test]
    fn characters_of_a_prefix_are_not_encoded() {
        for (prefix, expected) in
            [("", None), ("orders", None), ("a~b/c", Some("a~b")), ("a/b%/", Some("a/b%"))]
        {
            assert_eq!(folder(prefix).unwrap().as_ref().map(AsRef::as_ref), expected, "{prefix}");
        }
        assert_eq!(folder("a//b/").unwrap_err().kind(), ErrorKind::Rejected);
    }
}
