//! The way through the pages of a listing: pure.

use crate::store::{StoreError, StoreErrorKind};

/// Knows when a listing comes to a page again, however long the circle is. It keeps one page in mind, and another one each
/// time that it has seen twice as many (Brent's way of finding circles).
#[derive(Debug, Default)]
pub(super) struct Pages {
    at: Option<String>,
    waymark: Option<String>,
    seen: u64,
    /// When the waymark is moved.
    moves_at: u64,
}

impl Pages {
    /// The page to ask for; `None` for the first.
    pub(super) fn current(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// Goes to the page that the one before has named.
    pub(super) fn turn(&mut self, next: String) -> Result<(), StoreError> {
        if self.waymark.as_ref() == Some(&next) {
            let text = format!(
                "the listing names page {next:?} a second time and would never end; what was found so far is not all there is"
            );
            return Err(StoreError::new(StoreErrorKind::Refused, text));
        }
        self.seen += 1;
        if self.seen >= self.moves_at {
            self.waymark = Some(next.clone());
            self.moves_at = self.seen.saturating_mul(2);
        }
        self.at = Some(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pages are turned before it is noticed that they begin again.
    fn turned(before: usize, circle: usize) -> usize {
        let mut pages = Pages::default();
        let names = (0..before).chain((before..before + circle).cycle());
        let noticed = names.take(10_000).position(|name| pages.turn(name.to_string()).is_err());
        noticed.unwrap_or_else(|| panic!("a circle of {circle} pages after {before} is not noticed"))
    }

    #[test]
    fn a_listing_that_never_ends_is_noticed_however_long_its_circle_is() {
        assert_eq!(turned(0, 1), 1);
        for before in [0, 1, 7, 100] {
            for circle in [1, 2, 3, 64, 100] {
                assert!(turned(before, circle) <= 4 * (before + circle), "{before} and {circle}");
            }
        }
    }

    #[test]
    fn a_long_listing_with_an_end_is_none_of_these() {
        let mut pages = Pages::default();
        assert_eq!(pages.current(), None);
        for name in 0..10_000 {
            pages.turn(name.to_string()).expect("a new page");
        }
        assert_eq!(pages.current(), Some("9999"));
    }
}
