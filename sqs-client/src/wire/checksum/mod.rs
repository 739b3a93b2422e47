//! MD5 of bodies, message attributes and system attributes, as SQS computes them.
//!
//! A [`Client`](crate::Client) verifies checksums itself; configure it with [`ChecksumPolicy`]. The functions are for
//! servers and for layers that replace message bodies.
//!
//! ```
//! use sqs_client::wire::checksum::{md5_of_body, message_size};
//!
//! assert_eq!(md5_of_body("hello").as_str(), "5d41402abc4b2a76b9719d911017c592");
//! assert_eq!(message_size("hello", None), 5); // bytes
//! ```
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
//! ("Calculating the MD5 message digest for message attributes"). MD5 detects corruption in transit. It does not protect
//! against an attacker.

mod lanes;
mod verify;

use std::collections::HashMap;

use aws_smithy_types::Blob;
use md5::{Digest, Md5};

use crate::types::{MessageAttributeValue, MessageSystemAttributeValue};
use crate::wire::hex;

pub use crate::types::ChecksumMismatch;
pub use verify::ChecksumPolicy;
pub(crate) use verify::{receive_message, send_message, send_message_batch};

/// MD5 as 32 lower-case hex digits, without a heap allocation.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Md5Hex([u8; 32]);

impl Md5Hex {
    fn of(hash: &[u8]) -> Self {
        let mut digits = [0; 32];
        hex::encode(hash, &mut digits);
        Self(digits)
    }

    /// The digits of a hash. To store many checksums, store the hashes, which take half of the memory.
    pub fn from_hash(hash: [u8; 16]) -> Self {
        Self::of(&hash)
    }

    /// The hash.
    pub fn hash(&self) -> [u8; 16] {
        let mut hash = [0; 16];
        for (byte, digits) in hash.iter_mut().zip(self.0.chunks_exact(2)) {
            *byte = digits.iter().fold(0, |byte, digit| byte << 4 | hex::value(*digit));
        }
        hash
    }

    /// The hex digits.
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

/// MD5 of each body. Bodies of similar length take less time together than one by one.
pub fn md5_of_bodies(bodies: &[&str]) -> Vec<Md5Hex> {
    let mut hashes = Vec::with_capacity(bodies.len());
    for bodies in bodies.chunks(lanes::LANES) {
        if is_faster_in_lanes(bodies) {
            hashes.extend(lanes::md5(bodies).iter().take(bodies.len()).map(|hash| Md5Hex::of(hash)));
        } else {
            hashes.extend(bodies.iter().copied().map(md5_of_body));
        }
    }
    hashes
}

/// Whether hashing the bodies in lanes is faster than one by one. All lanes take as long as the longest body.
fn is_faster_in_lanes(bodies: &[&str]) -> bool {
    /// Upper bound of the time to hash all lanes, relative to one text.
    const COST: usize = 2;

    let blocks = bodies.iter().map(|body| lanes::blocks(body.as_bytes()));
    blocks.clone().sum::<usize>() >= COST * blocks.max().unwrap_or_default()
}

/// The deduplication id that content-based deduplication generates: SHA-256 of the body, 64 lower-case hex digits.
/// Attributes do not count.
pub fn content_deduplication_id(body: &str) -> String {
    hex::Sha256Hex::of(body).to_string()
}

/// A value of a message attribute or of a message system attribute. Both are hashed in the same way.
pub trait AttributeValue {
    /// The data type, including the label.
    fn data_type(&self) -> &str;
    /// The text of a `String` or `Number`.
    fn text(&self) -> Option<&str>;
    /// The bytes of a `Binary`.
    fn bytes(&self) -> Option<&Blob>;

    /// The bytes that are hashed and that count toward the message size.
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

/// MD5 of attributes, or `None` if there are none.
///
/// The attributes are hashed in byte order of their names: name, data type, transport type (one byte: 1 for text, 2 for
/// binary) and value. A 32-bit big-endian length precedes name, data type and value.
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
    // A message has at most 1 MiB, so the length always fits.
    hash.update(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    hash.update(bytes);
}

/// Size of a message in bytes, as SQS counts it: body plus name, data type and value of each message attribute.
///
/// Binary values count decoded. System attributes do not count.
#[expect(clippy::implicit_hasher, reason = "a generic hasher would require a type annotation for `None`")]
pub fn message_size(body: &str, attributes: Option<&HashMap<String, MessageAttributeValue>>) -> usize {
    let attributes = attributes.into_iter().flatten();
    body.len()
        + attributes
            .map(|(name, value)| name.len() + value.data_type.len() + AttributeValue::value(value).len())
            .sum::<usize>()
}

#[cfg(test)]
mod tests;
