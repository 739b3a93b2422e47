//! Receipt handles: opaque text that finds its message without a table.
//!
//! A handle holds the place of the message, its ticket (never used again within a queue, unlike the place) and
//! the number of the receive, hidden behind a mark that only handles of the same queue have.

use super::slab::Slot;
use crate::seed::scramble;

/// Handles of AWS begin like this too.
const PREFIX: &str = "AQEB";
const BYTES: usize = 24;

/// What a handle says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Handle {
    pub(super) slot: Slot,
    pub(super) ticket: u64,
    pub(super) receive: u32,
}

/// What a queue writes its handles with, and knows them by.
#[derive(Clone, Copy, Debug)]
pub(super) struct HandleKey(pub(super) u64);

impl HandleKey {
    pub(super) fn write(self, handle: Handle) -> String {
        let place = u64::from(handle.slot.0) << 32 | u64::from(handle.receive);
        let mark = self.mark(handle.ticket, place);
        let (ticket_mask, place_mask) = masks(mark);
        let words = [mark, handle.ticket ^ ticket_mask, place ^ place_mask];
        let mut bytes = [0; BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let mut text = String::with_capacity(PREFIX.len() + BYTES / 3 * 4);
        text.push_str(PREFIX);
        base64_simd::STANDARD.encode_append(bytes, &mut text);
        text
    }

    /// `None` for every text that [`write`](Self::write) of this key did not give.
    pub(super) fn read(self, text: &str) -> Option<Handle> {
        let text = text.strip_prefix(PREFIX)?;
        if text.len() != BYTES / 3 * 4 {
            return None;
        }
        let bytes = base64_simd::STANDARD.decode_to_vec(text).ok()?;
        let mut words =
            bytes.chunks_exact(8).filter_map(|word| Some(u64::from_be_bytes(word.try_into().ok()?)));
        let (mark, ticket, place) = (words.next()?, words.next()?, words.next()?);
        let (ticket_mask, place_mask) = masks(mark);
        let (ticket, place) = (ticket ^ ticket_mask, place ^ place_mask);
        if self.mark(ticket, place) != mark {
            return None;
        }
        let slot = Slot(u32::try_from(place >> 32).ok()?);
        let receive = u32::try_from(place & u64::from(u32::MAX)).ok()?;
        Some(Handle { slot, ticket, receive })
    }

    fn mark(self, ticket: u64, place: u64) -> u64 {
        scramble(self.0 ^ scramble(ticket ^ scramble(place)))
    }
}

/// Handles of one message that differ in one bit should not look alike.
fn masks(mark: u64) -> (u64, u64) {
    (scramble(mark), scramble(!mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDLE: Handle = Handle { slot: Slot(77), ticket: 123_456_789_012, receive: 3 };

    #[test]
    fn handle_is_read_by_the_queue_that_wrote_it() {
        let text = HandleKey(5).write(HANDLE);
        assert_eq!(HandleKey(5).read(&text), Some(HANDLE));
        assert_eq!(HandleKey(6).read(&text), None);
        assert!(!text.contains('-'), "{text}");
    }

    #[test]
    fn changed_text_is_no_handle() {
        let text = HandleKey(5).write(HANDLE);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(HandleKey(5).read(&String::from_utf8(bytes).unwrap()), None, "{at}");
        }
        for text in ["", "garbage", "AQEB", "AQEBé", &text[1..], &format!("{text}A")] {
            assert_eq!(HandleKey(5).read(text), None, "{text}");
        }
    }
}
