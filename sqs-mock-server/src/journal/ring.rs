//! The latest requests in one piece of memory.
//!
//! ```text
//! heads  [ lengths of A, time, .. ][ lengths of B, .. ]..
//! bytes  id region account path content | id region account path content | ..
//! ```
//! Each head says how long its part of the bytes is. New requests come in at the end, the oldest go at the front, so
//! that recording allocates nothing once there is room; records are made when somebody looks.

use std::collections::VecDeque;
use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::protocol::Protocol;

use super::content;
use super::record::{Ending, RecordedRequest};
use crate::clock::Timestamp;

/// Bytes of all that is kept, unless the latest request alone is longer.
pub(super) const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Ring {
    heads: VecDeque<Head>,
    bytes: VecDeque<u8>,
    recorded: u64,
}

/// What of a request has one size, and how long the rest is.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) time: Timestamp,
    pub(super) elapsed: Duration,
    pub(super) protocol: Protocol,
    pub(super) action: Option<Action>,
    pub(super) ending: Ending,
    /// Of id, region, account, path and content; texts that are not there have none.
    lengths: [usize; 5],
    has_content: bool,
}

/// A request that is to be recorded.
pub(super) struct New<'a> {
    pub(super) head: Head,
    /// Id, region, account and path; what is empty is not there.
    pub(super) texts: [&'a str; 4],
    pub(super) input: &'a [u8],
}

impl Head {
    pub(super) fn new(
        (time, elapsed): (Timestamp, Duration),
        protocol: Protocol,
        action: Option<Action>,
        ending: Ending,
    ) -> Self {
        Self { time, elapsed, protocol, action, ending, lengths: [0; 5], has_content: false }
    }

    fn length(&self) -> usize {
        self.lengths.iter().sum()
    }
}

impl Ring {
    /// Puts in a request, and takes out what has to make room for it.
    pub(super) fn push(&mut self, new: New<'_>, capacity: usize) {
        let New { mut head, texts, input } = new;
        let [lengths @ .., content] = &mut head.lengths;
        for (length, text) in lengths.iter_mut().zip(texts) {
            *length = text.len();
            self.bytes.extend(text.as_bytes());
        }
        head.has_content = input.len() <= MAX_BYTES;
        if head.has_content {
            let before = self.bytes.len();
            content::keep(head.protocol, input, &mut self.bytes);
            *content = self.bytes.len() - before;
        }
        self.heads.push_back(head);
        self.recorded += 1;
        while self.heads.len() > capacity || (self.bytes.len() > MAX_BYTES && self.heads.len() > 1) {
            let Some(oldest) = self.heads.pop_front() else { break };
            self.bytes.drain(..oldest.length().min(self.bytes.len()));
        }
    }

    /// Forgets all, and says how many that were.
    pub(super) fn clear(&mut self) -> usize {
        self.bytes = VecDeque::new();
        std::mem::take(&mut self.heads).len()
    }

    /// A copy, for making records without keeping others waiting.
    pub(super) fn snapshot(&self) -> Snapshot {
        let (start, end) = self.bytes.as_slices();
        let kept = u64::try_from(self.heads.len()).unwrap_or(0);
        Snapshot {
            first: self.recorded - kept + 1,
            heads: self.heads.iter().cloned().collect(),
            bytes: [start, end].concat(),
        }
    }
}

/// What was in the ring.
pub(super) struct Snapshot {
    first: u64,
    heads: Vec<Head>,
    bytes: Vec<u8>,
}

impl Snapshot {
    pub(super) fn records(self) -> Vec<RecordedRequest> {
        let mut rest = &*self.bytes;
        let heads = (self.first..).zip(self.heads);
        heads.map(|(number, head)| record(number, head, &mut rest)).collect()
    }
}

/// Takes what belongs to a head off the front of `rest`.
fn record(number: u64, head: Head, rest: &mut &[u8]) -> RecordedRequest {
    let mut next = |length: usize| {
        let (part, behind) = rest.split_at_checked(length).unwrap_or_default();
        *rest = behind;
        part
    };
    let [id, region, account, path, content] = head.lengths.map(&mut next);
    let text = |bytes: &[u8]| Box::<str>::from(String::from_utf8_lossy(bytes));
    RecordedRequest {
        number,
        request_id: text(id),
        time: head.time,
        protocol: head.protocol,
        action: head.action,
        caller: (!region.is_empty()).then(|| (text(region), text(account))),
        path: (!path.is_empty()).then(|| text(path)),
        content: head.has_content.then(|| content.into()),
        ending: head.ending,
        elapsed: head.elapsed,
    }
}
