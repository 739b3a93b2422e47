//! Which messages go through the store: pure.

use sqs_client::wire::limits::MAX_BATCH_ENTRIES;

/// How large a message is, by the rule of the service: body, and name, type and value of each attribute. In bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Sizes {
    /// As it is.
    pub(crate) inline: usize,
    /// With a pointer instead of its body; `None` when it has no body, which the service refuses.
    pub(crate) offloaded: Option<usize>,
}

impl Sizes {
    /// Whether it goes through the store for its own size; `threshold` is `None` when every message does.
    pub(crate) fn exceed(&self, threshold: Option<usize>) -> bool {
        self.offloaded.is_some() && threshold.is_none_or(|threshold| self.inline > threshold)
    }

    /// How much smaller a batch becomes.
    fn saving(&self) -> usize {
        self.offloaded.map_or(0, |offloaded| self.inline.saturating_sub(offloaded))
    }

    fn sent(&self, is_selected: bool) -> usize {
        self.offloaded.filter(|_| is_selected).unwrap_or(self.inline)
    }
}

/// Entries of a batch, by their places.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Selection([bool; MAX_BATCH_ENTRIES]);

impl Selection {
    pub(crate) fn contains(&self, place: usize) -> bool {
        self.0.get(place).copied().unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }
}

/// Which entries of a batch go through the store: those above the threshold, and then the largest, until the batch has no
/// more than `limit` bytes. Of a batch with more entries than the service takes, none: it will be refused.
pub(crate) fn select(
    sizes: impl IntoIterator<Item = Sizes>,
    threshold: Option<usize>,
    limit: usize,
) -> Selection {
    let mut table = [Sizes::default(); MAX_BATCH_ENTRIES];
    let mut selection = Selection::default();
    let mut total = 0_usize;
    for (place, sizes) in sizes.into_iter().enumerate() {
        let (Some(row), Some(selected)) = (table.get_mut(place), selection.0.get_mut(place)) else {
            return Selection::default();
        };
        (*row, *selected) = (sizes, sizes.exceed(threshold));
        total = total.saturating_add(sizes.sent(*selected));
    }
    while total > limit {
        let rows = table.iter().zip(&mut selection.0);
        let left = rows.filter(|(sizes, selected)| !**selected && sizes.saving() > 0);
        // Of equal ones the first.
        let Some((sizes, selected)) = left.rev().max_by_key(|(sizes, _)| sizes.inline) else { break };
        *selected = true;
        total -= sizes.saving();
    }
    selection
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const POINTER: usize = 200;

    fn of(inline: usize) -> Sizes {
        Sizes { inline, offloaded: Some(POINTER) }
    }

    fn places(inline: &[usize], threshold: Option<usize>, limit: usize) -> Vec<usize> {
        let selection = select(inline.iter().map(|inline| of(*inline)), threshold, limit);
        (0..inline.len()).filter(|place| selection.contains(*place)).collect()
    }

    #[test]
    fn exactly_the_threshold_is_not_above_it() {
        assert_eq!(places(&[999, 1_000, 1_001], Some(1_000), usize::MAX), [2]);
        assert_eq!(places(&[1, 0], None, usize::MAX), [0, 1]);
        let empty = Sizes { inline: 2_000, offloaded: None };
        assert!(!empty.exceed(Some(1_000)) && !empty.exceed(None));
    }

    #[test]
    fn the_largest_make_room_for_the_others() {
        assert_eq!(places(&[300, 900, 500], Some(1_000), 1_700), [] as [usize; 0]);
        assert_eq!(places(&[300, 900, 500], Some(1_000), 1_699), [1]);
        assert_eq!(places(&[300, 900, 500], Some(1_000), 999), [1, 2]);
        assert_eq!(places(&[900, 900], Some(1_000), 1_500), [0]);
        assert_eq!(places(&[150, 150], Some(1_000), 100), [] as [usize; 0]);
        assert_eq!(places(&[2_000; 11], Some(1_000), 100), [] as [usize; 0]);
    }

    proptest! {
        #[test]
        fn a_batch_fits_if_it_can_and_nothing_goes_that_need_not(
            inline in prop::collection::vec(1_usize..3_000, 1..=10),
            threshold in 0_usize..3_000,
            limit in 0_usize..20_000,
        ) {
            let chosen = places(&inline, Some(threshold), limit);
            let sent: usize = inline.iter().enumerate()
                .map(|(place, size)| if chosen.contains(&place) { POINTER } else { *size }).sum();
            let least: usize = inline.iter()
                .map(|size| if *size > threshold { POINTER } else { (*size).min(POINTER) }).sum();
            prop_assert!(sent <= limit || sent == least);
            for (place, size) in inline.iter().enumerate() {
                prop_assert!(*size <= threshold || chosen.contains(&place));
                // The smallest that went only for room was needed.
                let is_for_room = chosen.contains(&place) && *size <= threshold;
                let is_smallest = chosen.iter().all(|other| inline[*other] >= *size || inline[*other] > threshold);
                if is_for_room && is_smallest {
                    prop_assert!(sent - POINTER + size > limit);
                }
            }
        }
    }
}
