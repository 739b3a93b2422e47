//! Converts the bytes of the fuzzer to a message.

use http::{HeaderMap, HeaderName, HeaderValue};
use sqs_client::operation::{Action, Operation};

use crate::shapes::for_each_operation;

/// A check that is generic over the operation.
pub(crate) trait Task {
    fn run<O: Operation>(self);
}

/// Runs a task for the operation of an action.
pub(crate) fn run(action: Action, task: impl Task) {
    macro_rules! choose {
        ($($module:ident $op:ident,)*) => {
            match action { $( Action::$op => task.run::<sqs_client::operation::$module::$op>(), )* }
        };
    }
    for_each_operation!(choose);
}

/// Splits off the action, which the first byte selects: `A` is the first of the 23.
pub(crate) fn action(data: &[u8]) -> Option<(Action, &[u8])> {
    let (letter, rest) = data.split_first()?;
    let number = usize::from(letter.wrapping_sub(b'A'));
    Some((*Action::ALL.get(number % Action::ALL.len())?, rest))
}

/// Splits at the first empty line into the lines of the head and the body.
pub(crate) fn head_and_body(data: &[u8]) -> (impl Iterator<Item = &[u8]>, &[u8]) {
    const EMPTY: &[u8] = b"\r\n\r\n";
    let end = data.windows(EMPTY.len()).position(|bytes| bytes == EMPTY).unwrap_or(data.len());
    let (head, body) = data.split_at(end);
    let lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    (lines, body.get(EMPTY.len()..).unwrap_or_default())
}

/// Parses a header line. `None` if it is invalid.
pub(crate) fn header(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at(colon);
    let value = value.get(1..)?.trim_ascii();
    Some((HeaderName::from_bytes(name).ok()?, HeaderValue::from_bytes(value).ok()?))
}

/// Parses header lines. Names may repeat.
pub(crate) fn header_map<'a>(lines: impl Iterator<Item = &'a [u8]>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(header) {
        headers.append(name, value);
    }
    headers
}
