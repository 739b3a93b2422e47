//! Cuts a body into parts of equal length.

mod part;
mod part_buffer;
mod source;

pub(super) use part::Part;
pub(super) use source::{MAX_PARTS, Source};
