//! Payloads through a store with scripted failures.

mod checks;
mod ranges;
mod resume;
mod scripted;

use bytes::Bytes;

use crate::format::pointer::Pointer;

fn at() -> Pointer {
    Pointer::new("b", "k")
}

fn text(length: usize) -> Bytes {
    (0..length).map(|index| b'a' + u8::try_from(index * 7 % 26).unwrap()).collect()
}
