//! Makes a failing plan smaller, without knowing what it does.
//!
//! ```text
//! Shrinker --candidate--> run it --tell(fails)--> Shrinker .. until there is no candidate --> Shrunk
//! ```

/// The result of making a list smaller.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Shrunk<T> {
    pub(crate) kept: Vec<T>,
    /// How often it was tried whether a shorter list fails.
    pub(crate) tries: usize,
    /// Whether each of the kept ones is needed. Otherwise, the tries were used up before.
    pub(crate) is_minimal: bool,
}

/// Takes away what is not needed for a failure: first halves, then quarters and so on, at last single ones until none can be
/// taken away.
///
/// Source: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002.
#[derive(Debug)]
pub(crate) struct Shrinker<T> {
    kept: Vec<T>,
    /// The number of those that are taken away at once.
    size: usize,
    /// The first of those that are tried next.
    start: usize,
    /// Whether something was taken away since the start was 0.
    has_removed: bool,
    tries: usize,
    at_most: usize,
    is_done: bool,
}

impl<T: Clone> Shrinker<T> {
    /// A list that fails, and the number of tries.
    pub(crate) fn new(all: Vec<T>, at_most: usize) -> Self {
        let (size, is_done) = (all.len().div_ceil(2).max(1), all.is_empty());
        Self { kept: all, size, start: 0, has_removed: false, tries: 0, at_most, is_done }
    }

    /// A shorter list to try; `None` when it cannot become smaller, or the tries are used up.
    pub(crate) fn candidate(&self) -> Option<Vec<T>> {
        let is_over = self.is_done || self.tries == self.at_most;
        (!is_over).then(|| [&self.kept[..self.start], &self.kept[self.end()..]].concat())
    }

    /// The shortest list so far that fails.
    #[cfg(feature = "cli")]
    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
    }

    /// The candidates that were tried.
    #[cfg(feature = "cli")]
    pub(crate) fn tries(&self) -> usize {
        self.tries
    }

    fn end(&self) -> usize {
        (self.start + self.size).min(self.kept.len())
    }

    /// Whether the candidate fails.
    pub(crate) fn tell(&mut self, fails: bool) {
        self.tries += 1;
        let end = self.end();
        if fails {
            self.kept.drain(self.start..end);
            self.has_removed = true;
        } else {
            self.start = end;
        }
        if self.start < self.kept.len() {
            return;
        }
        // Once more over all of them, with smaller parts unless these were of use.
        self.start = 0;
        self.is_done = self.kept.is_empty() || (self.size == 1 && !self.has_removed);
        if !std::mem::take(&mut self.has_removed) {
            self.size = (self.size / 2).max(1);
        }
        self.size = self.size.min(self.kept.len().max(1));
    }

    pub(crate) fn finish(self) -> Shrunk<T> {
        Shrunk { kept: self.kept, tries: self.tries, is_minimal: self.is_done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrink(all: Vec<u32>, at_most: usize, fails: impl Fn(&[u32]) -> bool) -> Shrunk<u32> {
        let mut shrinker = Shrinker::new(all, at_most);
        while let Some(candidate) = shrinker.candidate() {
            shrinker.tell(fails(&candidate));
        }
        shrinker.finish()
    }

    /// Fails if all of these are there.
    fn needs(needed: &[u32]) -> impl Fn(&[u32]) -> bool + '_ {
        |all| needed.iter().all(|one| all.contains(one))
    }

    #[test]
    fn only_what_is_needed_is_kept() {
        for needed in [&[][..], &[7], &[0, 99], &[3, 4, 5], &[1, 50, 98]] {
            let shrunk = shrink((0..100).collect(), 10_000, needs(needed));
            assert_eq!(shrunk.kept, needed);
            assert!(shrunk.is_minimal && shrunk.tries < 100, "{needed:?}: {} tries", shrunk.tries);
        }
        assert!(shrink(Vec::new(), 10, |_| true).is_minimal);
    }

    #[test]
    fn tries_are_bounded() {
        let shrunk = shrink((0..100).collect(), 5, needs(&[1, 50, 98]));
        assert!(!shrunk.is_minimal && shrunk.tries == 5);
        assert!([1, 50, 98].iter().all(|one| shrunk.kept.contains(one)));
    }

    /// An odd number of any of them.
    #[test]
    fn failure_without_a_unique_cause_ends_at_one_that_needs_each_of_its_parts() {
        let shrunk = shrink((0..31).collect(), 10_000, |all| all.len() % 2 == 1);
        assert!(shrunk.is_minimal && shrunk.kept.len() % 2 == 1, "{shrunk:?}");
    }
}
