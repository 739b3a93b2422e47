//! MD5 of bodies, message attributes and system attributes, as the service computes them.
//!
//! A [`Client`](crate::Client) verifies all of them by itself: for it, [`ChecksumPolicy`] is all that is of interest here. The
//! functions are for servers, and for layers that put other bodies into answers.
//!
//! ```
//! use sqs_client::checksum::{md5_of_body, message_size};
//!
//! assert_eq!(md5_of_body("hello").as_str(), "5d41402abc4b2a76b9719d911017c592");
//! assert_eq!(message_size("hello", None), 5); // bytes, as the service counts them
//! ```
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
//! ("Calculating the MD5 message digest for message attributes"). MD5 guards against corruption in
//! transit only; it is no protection against an attacker.

mod lanes;
mod verify;

use std::collections::HashMap;

use aws_smithy_types::Blob;
use md5::{Digest, Md5};

use crate::hex;
use crate::types::{MessageAttributeValue, MessageSystemAttributeValue};

pub use crate::types::ChecksumMismatch;
pub use verify::ChecksumPolicy;
pub(crate) use verify::{receive_message, send_message, send_message_batch};

/// MD5 as 32 lower-case hex digits, kept inline.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Md5Hex([u8; 32]);

impl Md5Hex {
    fn of(hash: &[u8]) -> Self {
        let mut digits = [0; 32];
        hex::encode(hash, &mut digits);
        Self(digits)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Display for Md5Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Debug for Md5Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Md5Hex> for String {
    fn from(hex: Md5Hex) -> Self {
        hex.as_str().to_owned()
    }
}

/// MD5 of a message body.
pub fn md5_of_body(body: &str) -> Md5Hex {
    Md5Hex::of(&Md5::digest(body))
}

/// MD5 of each of the bodies.
fn md5_of_bodies(bodies: &[&str]) -> Vec<Md5Hex> {
    let mut hashes = Vec::with_capacity(bodies.len());
    for bodies in bodies.chunks(lanes::LANES) {
        if are_hashed_together(bodies) {
            hashes.extend(lanes::md5(bodies).iter().take(bodies.len()).map(|hash| Md5Hex::of(hash)));
        } else {
            hashes.extend(bodies.iter().copied().map(md5_of_body));
        }
    }
    hashes
}

/// Whether they have enough to hash: in lanes, the others wait for the longest one.
fn are_hashed_together(bodies: &[&str]) -> bool {
    /// What hashing all lanes costs at most, compared with one text.
    const COST: usize = 2;

    let blocks = bodies.iter().map(|body| lanes::blocks(body.as_bytes()));
    blocks.clone().sum::<usize>() >= COST * blocks.max().unwrap_or_default()
}

/// SHA-256 of a message body, 64 lower-case hex digits: the deduplication id of a FIFO queue with
/// content-based deduplication. Attributes are not part of it.
pub fn content_deduplication_id(body: &str) -> String {
    hex::Sha256Hex::of(body).to_string()
}

/// A value of a message attribute or a system attribute, which hash alike.
pub trait AttributeValue {
    /// The data type, label included.
    fn data_type(&self) -> &str;
    /// The text, for `String` and `Number`.
    fn text(&self) -> Option<&str>;
    /// The bytes, for `Binary`.
    fn bytes(&self) -> Option<&Blob>;

    /// The value as it is hashed and counted: the bytes when there are any, else the text.
    fn value(&self) -> &[u8] {
        match self.bytes() {
            Some(blob) => blob.as_ref(),
            None => self.text().unwrap_or_default().as_bytes(),
        }
    }
}

macro_rules! attribute_value {
    ($type:ty) => {
        impl AttributeValue for $type {
            fn data_type(&self) -> &str {
                &self.data_type
            }
            fn text(&self) -> Option<&str> {
                self.string_value.as_deref()
            }
            fn bytes(&self) -> Option<&Blob> {
                self.binary_value.as_ref()
            }
        }
    };
}
attribute_value!(MessageAttributeValue);
attribute_value!(MessageSystemAttributeValue);

/// MD5 of attributes, or `None` when there are none.
///
/// Names are taken in byte order. Each of name, data type and value goes in after its length as a 32-bit
/// big-endian number; between data type and value stands one byte, 1 for text and 2 for bytes.
pub fn md5_of_attributes<'a, N, V, I>(attributes: I) -> Option<Md5Hex>
where
    N: AsRef<str> + 'a,
    V: AttributeValue + 'a,
    I: IntoIterator<Item = (&'a N, &'a V)>,
{
    let mut sorted: Vec<(&str, &V)> =
        attributes.into_iter().map(|(name, value)| (name.as_ref(), value)).collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let mut hash = Md5::new();
    for (name, value) in sorted {
        update_with_length(&mut hash, name.as_bytes());
        update_with_length(&mut hash, value.data_type().as_bytes());
        hash.update([if value.bytes().is_some() { 2 } else { 1 }]);
        update_with_length(&mut hash, value.value());
    }
    Some(Md5Hex::of(&hash.finalize()))
}

fn update_with_length(hash: &mut Md5, bytes: &[u8]) {
    // Nothing of 4 GiB gets here: a message has at most 1 MiB.
    hash.update(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    hash.update(bytes);
}

/// Size of a message as the service counts it, in bytes: the body plus, for each message attribute, name,
/// data type and value (binary values decoded). System attributes do not count.
#[expect(clippy::implicit_hasher, reason = "`None` must not need a type")]
pub fn message_size(body: &str, attributes: Option<&HashMap<String, MessageAttributeValue>>) -> usize {
    let attributes = attributes.into_iter().flatten();
    body.len()
        + attributes
            .map(|(name, value)| name.len() + value.data_type.len() + AttributeValue::value(value).len())
            .sum::<usize>()
}

#[cfg(test)]
mod tests;
