//! Limits the peak memory of decoders.

use http::HeaderMap;
use peak_alloc::PeakAlloc;
use sqs_client::operation::Operation;
use sqs_client::wire::protocol::Protocol;

use crate::message::{self, Task};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const KIBIBYTE: usize = 1 << 10;
const MEBIBYTE: usize = 1 << 20;
/// Allowed bytes per byte of a small body. A list element of three bytes becomes a shape of 200.
const FACTOR: usize = 256;
/// Allowed bytes for the maximum number of parts that the decoders accept, without texts. A form of 10,000 parameters with
/// twelve levels each takes 34 MB.
const PARTS: usize = 40 * MEBIBYTE;
/// Allowed copies of texts: encoded, decoded, and in growing buffers.
const COPIES: usize = 8;
/// Maximum length of the bodies of [`excess`].
const LONG: usize = 2 * MEBIBYTE;

/// Runs a decoder on `body` and checks its peak memory.
pub(crate) fn within_bounds<T>(body: &[u8], decode: impl FnOnce() -> T) -> T {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let decoded = decode();
    let needed = ALLOCATOR.peak_usage().saturating_sub(before);
    let allowed = (16 * KIBIBYTE + FACTOR * body.len()).min(PARTS + COPIES * body.len());
    assert!(
        needed <= allowed,
        "{needed} bytes of memory for a body of {} bytes; allowed are {allowed}",
        body.len()
    );
    decoded
}

/// Checks the peak memory for a long body.
///
/// The input is the letter of an action, the number of a decoder, and the pieces of the body, one per line. The first byte of
/// a piece is a power of two: how often the piece is repeated.
///
/// # Panics
/// A decoder takes more memory than a body of this length may need.
pub fn excess(data: &[u8]) {
    let Some((action, [decoder, pieces @ ..])) = message::action(data) else { return };
    let mut body = Vec::new();
    for piece in pieces.split(|byte| *byte == b'\n') {
        let Some((power, text)) = piece.split_first() else { continue };
        let times = 1_usize << (power % 21);
        let room = (LONG - body.len()) / text.len().max(1);
        body.extend(text.repeat(times.min(room)));
    }
    message::run(action, Excess { decoder: *decoder, body });
}

struct Excess {
    decoder: u8,
    body: Vec<u8>,
}

impl Task for Excess {
    fn run<O: Operation>(self) {
        let body = self.body.as_slice();
        let answer = |protocol: Protocol, status| {
            within_bounds(body, || protocol.decode_response::<O>(status, &HeaderMap::new(), body).is_ok())
        };
        let request =
            |protocol: Protocol| within_bounds(body, || protocol.decode_request::<O::Input>(body).is_ok());
        match self.decoder % 6 {
            0 => request(Protocol::AwsJson),
            1 => request(Protocol::Query),
            2 => answer(Protocol::AwsJson, 200),
            3 => answer(Protocol::Query, 200),
            4 => answer(Protocol::AwsJson, 400),
            _ => answer(Protocol::Query, 400),
        };
    }
}
