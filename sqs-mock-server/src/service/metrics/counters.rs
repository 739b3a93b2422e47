//! Counters with labels.

use std::borrow::Cow;
use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::exposition::Exposition;

/// Injected errors can have any code, so the number of series is bounded.
const MAX_SERIES: usize = 1_000;
/// The last label of series beyond [`MAX_SERIES`].
const OTHER: &str = "other";

/// The counters of one family since the start of the server, by the values of its labels.
#[derive(Debug)]
pub(crate) struct Counters<const N: usize> {
    labels: [&'static str; N],
    counts: Mutex<BTreeMap<[Cow<'static, str>; N], u64>>,
}

impl<const N: usize> Counters<N> {
    pub(crate) fn new(labels: [&'static str; N]) -> Self {
        Self { labels, counts: Mutex::default() }
    }

    /// Counts one more.
    pub(crate) fn count(&self, mut values: [Cow<'static, str>; N]) {
        let mut counts = self.counts.lock();
        if counts.len() >= MAX_SERIES && !counts.contains_key(&values) {
            values.iter_mut().next_back().into_iter().for_each(|last| *last = OTHER.into());
        }
        *counts.entry(values).or_default() += 1;
    }

    /// Writes all samples. Combinations that never occurred have none.
    pub(crate) fn write(&self, text: &mut Exposition, name: &str) {
        let counts = self.counts.lock().clone();
        for (values, count) in counts {
            let labels: Vec<_> = self.labels.into_iter().zip(values.iter().map(|value| &**value)).collect();
            text.sample(name, &labels, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_series_is_bounded() {
        let requests = Counters::new(["action", "code"]);
        for number in 0..2 * MAX_SERIES {
            requests.count(["Publish".into(), number.to_string().into()]);
        }
        requests.count(["Publish".into(), "0".into()]);
        let mut text = Exposition::default();
        requests.write(&mut text, "requests");
        let text = text.into_text();
        let publish =
            |code: &str, count: usize| format!("requests{{action=\"Publish\",code=\"{code}\"}} {count}\n");
        assert!(text.contains(&publish("0", 2)) && text.contains(&publish(OTHER, MAX_SERIES)));
        assert_eq!(text.matches("action=").count(), MAX_SERIES + 1);
    }
}
