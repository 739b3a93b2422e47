//! The sizes of messages, and which payloads are stored because of them. Pure.

use sqs_client::wire::limits::MAX_BATCH_ENTRIES;

/// The sizes of a message in bytes, as SQS counts them: body, and name, type and value of each attribute.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Sizes {
    /// Without a pointer.
    pub(crate) inline: usize,
    /// With a pointer instead of the body; `None` if it is one already, or if there is no body, which SQS rejects.
    pub(crate) offloaded: Option<usize>,
    /// Whether there is room for the attribute of the pointer.
    pub(crate) is_feasible: bool,
}

impl Sizes {
    /// Whether the payload is stored because of its own size. A `threshold` of `None` stores every payload. Too many
    /// attributes do not matter here: storing the payload returns that error.
    pub(crate) fn exceed(&self, threshold: Option<usize>) -> bool {
        match threshold {
            None => self.offloaded.is_some(),
            Some(threshold) => self.inline > threshold && self.saving() > 0,
        }
    }

    /// How many bytes a batch saves.
    fn saving(&self) -> usize {
        self.offloaded.map_or(0, |offloaded| self.inline.saturating_sub(offloaded))
    }

    fn sent(&self, is_selected: bool) -> usize {
        self.offloaded.filter(|_| is_selected).unwrap_or(self.inline)
    }
}

/// The selected entries of a batch, by index.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Selection([bool; MAX_BATCH_ENTRIES]);

impl Selection {
    pub(crate) fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().filter_map(|(place, is_selected)| is_selected.then_some(place))
    }
}

/// Selects the payloads of a batch to store: those above the threshold, and then the largest others until the batch has
/// at most `limit` bytes. If the batch has too many entries, nothing is stored, because SQS rejects it.
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
        let left = rows.filter(|(sizes, selected)| !**selected && sizes.is_feasible && sizes.saving() > 0);
        // Of equal ones, the first.
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
        Sizes { inline, offloaded: Some(POINTER), is_feasible: true }
    }

    fn places(inline: &[usize], threshold: Option<usize>, limit: usize) -> Vec<usize> {
        select(inline.iter().map(|inline| of(*inline)), threshold, limit).places().collect()
    }

    #[test]
    fn message_of_exactly_the_threshold_is_not_stored() {
        assert_eq!(places(&[999, 1_000, 1_001], Some(1_000), usize::MAX), [2]);
        assert_eq!(places(&[1, 0], None, usize::MAX), [0, 1]);
        let empty = Sizes { offloaded: None, ..of(2_000) };
        assert!(!empty.exceed(Some(1_000)) && !empty.exceed(None));
    }

    #[test]
    fn largest_payloads_are_stored_until_the_batch_fits() {
        assert_eq!(places(&[300, 900, 500], Some(1_000), 1_700), [] as [usize; 0]);
        assert_eq!(places(&[300, 900, 500], Some(1_000), 1_699), [1]);
        assert_eq!(places(&[300, 900, 500], Some(1_000), 999), [1, 2]);
        assert_eq!(places(&[900, 900], Some(1_000), 1_500), [0]);
        assert_eq!(places(&[150, 150], Some(1_000), 100), [] as [usize; 0]);
        assert_eq!(places(&[2_000; 11], Some(1_000), 100), [] as [usize; 0]);
    }

    #[test]
    fn payload_is_not_stored_if_nothing_is_saved() {
        let mostly_attributes = Sizes { inline: 1_048_510, offloaded: Some(1_048_700), is_feasible: true };
        assert!(!mostly_attributes.exceed(Some(262_144)) && mostly_attributes.exceed(None));
    }

    #[test]
    fn batch_stores_another_payload_if_the_largest_has_ten_attributes() {
        let full = Sizes { is_feasible: false, ..of(210_000) };
        let sizes = [of(200_000), full, of(200_000), of(200_000), of(200_000), of(200_000)];
        let selection = select(sizes, Some(262_144), 1_048_576);
        assert_eq!(selection.places().collect::<Vec<_>>(), [0]);
    }

    proptest! {
        #[test]
        fn batch_fits_if_it_can_and_no_payload_is_stored_without_need(
            inline in prop::collection::vec(1_usize..3_000, 1..=10),
            threshold in 0_usize..3_000,
            limit in 0_usize..20_000,
        ) {
            let chosen = places(&inline, Some(threshold), limit);
            let sent: usize = inline.iter().enumerate()
                .map(|(place, size)| if chosen.contains(&place) { POINTER } else { *size }).sum();
            let least: usize = inline.iter()
                .map(|size| (*size).min(POINTER)).sum();
            prop_assert!(sent <= limit || sent == least);
            for (place, size) in inline.iter().enumerate() {
                prop_assert!(*size <= threshold.max(POINTER) || chosen.contains(&place));
                // Without the smallest payload that was stored only for space, the batch would not fit.
                let is_for_room = chosen.contains(&place) && *size <= threshold;
                let is_smallest = chosen.iter().all(|other| inline[*other] >= *size || inline[*other] > threshold);
                if is_for_room && is_smallest {
                    prop_assert!(sent - POINTER + size > limit);
                }
            }
        }
    }
}
