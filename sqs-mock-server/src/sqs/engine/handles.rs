//! Deleting and hiding the messages of receipt handles.
//!
//! Receipt handles: opaque text that locates its message without a table.
//!
//! A handle contains the slot of the message, its ticket (unlike the slot, never reused within a queue), the number of
//! the receive and its time. They follow a mark that only handles of the same queue have. A handle is as long as on
//! AWS, so columns and URLs that are too short for it fail here too:
//!
//! ```text
//! AQEB | mark | ticket, slot and receive, time, masked with the mark | padding derived from all of these
//! ```

use std::time::Duration;

use base64_simd::{Out, STANDARD};
use fastrand::Rng;
use sqs_client::wire::limits;

use crate::control::clock::Timestamp;
use crate::control::seed::{Uuid, scramble};
use crate::sqs::engine::HandleRefusal;
use crate::sqs::engine::change::QueueChange;
use crate::sqs::engine::inspect::PAGE;
use crate::sqs::engine::messages::{Birth, Core, Slot, State, Stored};
use crate::sqs::engine::queue::Queue;

/// A message of a standard queue was deleted with the handle of an earlier receive. SQS may ignore such a delete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct OldHandle {
    /// The message.
    pub id: Uuid,
    /// The receive that returned the handle, counted from 1.
    pub receive: u32,
    /// Number of receives of the message.
    pub receives: u32,
}

impl Queue {
    /// Deletes the message of a handle. Deleting a message that is gone is not an error.
    ///
    /// On a standard queue, the handle of any receive is valid for 12 hours. On a FIFO queue, a handle expires with the
    /// visibility timeout or with a later receive.
    ///
    /// # Errors
    /// The text is not a handle of this queue, or the handle has expired.
    pub(crate) fn delete(
        &mut self,
        now: Timestamp,
        receipt_handle: &str,
    ) -> Result<Option<OldHandle>, HandleRefusal> {
        let now = self.settle(now);
        let Some((handle, message)) = self.find(now, receipt_handle)? else {
            return Ok(None);
        };
        let (slot, receive) = (handle.slot, handle.receive);
        let Core { id, receives, .. } = message.core;
        let Stored { ticket, again, .. } = *message;
        let in_flight = matches!(message.state, State::InFlight { .. });
        // A server that misses a delete still has the message when its visibility timeout ends.
        let survives = again || in_flight && self.is_missed(slot);
        if !survives {
            self.store.remove(now, slot);
            self.record(|_| QueueChange::MessageDeleted { ticket });
        }
        Ok((receive != receives).then_some(OldHandle { id, receive, receives }))
    }

    /// Deletes the message with this id if it is on the next page after `after`, whatever its state, and moves `after`
    /// forward. Returns whether it was deleted; `None` at the end of the queue.
    pub(crate) fn delete_in_page(
        &mut self,
        now: Timestamp,
        id: Uuid,
        after: &mut Option<Birth>,
    ) -> Option<bool> {
        let now = self.settle(now);
        let mut found = None;
        let start = *after;
        for (slot, message) in self.store.after(start).take(PAGE) {
            *after = Some(message.birth());
            if message.core.id == id {
                found = Some((slot, message.ticket));
                break;
            }
        }
        if let Some((slot, ticket)) = found {
            self.store.remove(now, slot);
            self.record(|_| QueueChange::MessageDeleted { ticket });
        }
        (*after != start).then_some(found.is_some())
    }

    /// Hides the message of a handle for `timeout` from now; zero makes it visible.
    ///
    /// On a standard queue, the handle of any receive is valid for 12 hours, even while the message is visible. On a
    /// FIFO queue, a handle expires with the visibility timeout or with a later receive.
    ///
    /// # Errors
    /// The text is not a handle of this queue, the handle has expired, the message is gone, or it would stay hidden for
    /// more than 12 hours after its receive.
    pub(crate) fn change_visibility(
        &mut self,
        now: Timestamp,
        receipt_handle: &str,
        timeout: Duration,
    ) -> Result<(), HandleRefusal> {
        let now = self.settle(now);
        let (handle, message) = self.find(now, receipt_handle)?.ok_or(HandleRefusal::Gone)?;
        if !timeout.is_zero() && now.saturating_since(message.received) + timeout > longest_visibility() {
            return Err(HandleRefusal::HiddenTooLong(timeout));
        }
        let visible = timeout.is_zero();
        let state = if visible { State::Available } else { State::InFlight { until: now + timeout } };
        self.set_state(handle.slot, state);
        Ok(())
    }

    /// The message of a handle; `Ok(None)` if it is gone.
    fn find(&self, now: Timestamp, handle: &str) -> Result<Option<(Handle, &Stored)>, HandleRefusal> {
        let handle = self.handles.read(handle)?;
        if self.fifo.is_none() && handle.received + longest_visibility() <= now {
            return Err(HandleRefusal::Expired);
        }
        let found = self.store.get(handle.slot).filter(|message| message.ticket == handle.ticket);
        if self.fifo.is_some() && found.is_some_and(|message| !message.is_held(&handle)) {
            return Err(HandleRefusal::Expired);
        }
        Ok(found.map(|message| (handle, message)))
    }
}

/// The maximum visibility timeout after a receive. Handles of standard queues are valid as long.
fn longest_visibility() -> Duration {
    Duration::from_secs(u64::try_from(*limits::VISIBILITY_TIMEOUT_SECONDS.end()).unwrap_or(0))
}

/// First three bytes: `AQEB` in base64, as on AWS.
const PREFIX: [u8; 3] = [1, 1, 1];

/// Maximum number of bytes, which are 476 characters.
const MAX_BYTES: usize = 357;

/// Characters that encode mark and content, and their bytes.
const HEAD: (usize, usize) = (48, 36);

/// Ticket, slot with receive, and time.
type Content = [u64; 3];

/// The content of a handle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Handle {
    pub(crate) slot: Slot,
    pub(crate) ticket: u64,
    pub(crate) receive: u32,
    /// Time of the receive.
    pub(crate) received: Timestamp,
}

/// Writes and verifies the handles of one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandleKey {
    pub(crate) key: u64,
    /// Handles of FIFO queues are shorter.
    pub(crate) fifo: bool,
}

impl HandleKey {
    pub(crate) fn write(self, handle: Handle) -> String {
        let place = u64::from(handle.slot.0) << 32 | u64::from(handle.receive);
        let content = [handle.ticket, place, handle.received.as_millis()];
        write(self.mark(content), content, self.fifo)
    }

    /// Reads the output of [`write`](Self::write) with the same key.
    ///
    /// # Errors
    /// `NotAHandle` or `OtherQueue`.
    pub(crate) fn read(self, text: &str) -> Result<Handle, HandleRefusal> {
        let (mark, content) = parse(text).ok_or(HandleRefusal::NotAHandle)?;
        if [self.fifo, !self.fifo].into_iter().all(|fifo| write(mark, content, fifo) != text) {
            return Err(HandleRefusal::NotAHandle);
        }
        if self.mark(content) != mark {
            return Err(HandleRefusal::OtherQueue);
        }
        let [ticket, place, received] = content;
        let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        let (slot, receive) = (Slot(half(place >> 32)), half(place));
        Ok(Handle { slot, ticket, receive, received: Timestamp::from_millis(received) })
    }

    fn mark(self, content: Content) -> u64 {
        mix(self.key, content)
    }
}

fn mix(start: u64, content: Content) -> u64 {
    content.iter().fold(start, |mixed, word| scramble(mixed ^ scramble(*word)))
}

/// Masks or unmasks content: handles of one message that differ in one bit should not look alike.
fn hide(mark: u64, content: Content) -> Content {
    let mut stream = Rng::with_seed(mark);
    content.map(|word| word ^ stream.u64(..))
}

/// Number of bytes: 412 to 476 characters, 324 on FIFO queues. Most handles end in `=`, as on AWS.
fn length(mark: u64, fifo: bool) -> usize {
    let (least, range) = if fifo { (241, 3) } else { (307, 51) };
    least + usize::try_from(mark % range).unwrap_or(0)
}

fn write(mark: u64, content: Content, fifo: bool) -> String {
    let mut buffer = [0; MAX_BYTES];
    let bytes = &mut buffer[..length(mark, fifo)];
    Rng::with_seed(mix(mark, content)).fill(bytes);
    bytes[..PREFIX.len()].copy_from_slice(&PREFIX);
    let [ticket, place, received] = hide(mark, content);
    let words = bytes[PREFIX.len()..].chunks_exact_mut(8);
    words
        .zip([mark, ticket, place, received])
        .for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    STANDARD.encode_to_string(bytes)
}

/// Mark and content; the rest is not checked.
fn parse(text: &str) -> Option<(u64, Content)> {
    let mut head = [0; HEAD.1];
    STANDARD.decode(text.as_bytes().get(..HEAD.0)?, Out::from_slice(&mut head)).ok()?;
    let word =
        |at: usize| head.get(PREFIX.len() + 8 * at..)?.first_chunk().map(|word| u64::from_be_bytes(*word));
    let mark = word(0)?;
    Some((mark, hide(mark, [word(1)?, word(2)?, word(3)?])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(ticket: u64) -> Handle {
        Handle { slot: Slot(77), ticket, receive: 3, received: Timestamp::from_millis(1_795_235_138_120) }
    }

    const fn key(key: u64, fifo: bool) -> HandleKey {
        HandleKey { key, fifo }
    }

    #[test]
    fn handle_is_valid_only_for_the_queue_that_wrote_it() {
        for fifo in [false, true] {
            let text = key(5, fifo).write(handle(123_456_789_012));
            assert_eq!(key(5, fifo).read(&text), Ok(handle(123_456_789_012)));
            assert_eq!(key(6, fifo).read(&text), Err(HandleRefusal::OtherQueue));
            assert_eq!(key(6, !fifo).read(&text), Err(HandleRefusal::OtherQueue));
        }
    }

    /// Lengths are from logs of AWS. Python's extended client takes `-` as the end of a part.
    #[test]
    fn handles_have_lengths_and_letters_of_aws_handles() {
        let lengths = |fifo| {
            let texts = (0..2_000).map(|ticket| key(5, fifo).write(handle(ticket)));
            let mut lengths: Vec<_> = texts
                .map(|text| {
                    assert!(text.starts_with("AQEB") && !text.contains('-'), "{text}");
                    text.len()
                })
                .collect();
            lengths.sort_unstable();
            lengths.dedup();
            lengths
        };
        assert_eq!(lengths(false), (412..=476).step_by(4).collect::<Vec<_>>());
        assert_eq!(lengths(true), [324]);
    }

    #[test]
    fn modified_handle_is_not_valid() {
        for ticket in 0..3 {
            let text = key(5, false).write(handle(ticket));
            for at in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
                assert_eq!(
                    key(5, false).read(&String::from_utf8(bytes).unwrap()),
                    Err(HandleRefusal::NotAHandle),
                    "{at}"
                );
            }
            for text in
                ["", "garbage", "AQEB", "AQEBé", &text[1..], &text[4..], &format!("{text}A"), &text.repeat(2)]
            {
                assert_eq!(key(5, false).read(text), Err(HandleRefusal::NotAHandle), "{text}");
            }
        }
    }
}
