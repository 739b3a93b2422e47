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

use std::collections::HashMap;

use aws_smithy_types::Blob;
use md5::{Digest, Md5};

use super::hex;
use crate::types::batch::{SendMessageBatchInput, SendMessageBatchOutput};
use crate::types::message::{
    ReceiveMessageInput, ReceiveMessageOutput, SendMessageInput, SendMessageOutput, is_fifo,
};
use crate::types::{DamagedMessage, HasMetadata as _, MessageAttributeValue, MessageSystemAttributeValue};

pub use crate::types::ChecksumMismatch;

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
    // For sqs-mock-server.
    #[doc(hidden)]
    pub fn from_hash(hash: [u8; 16]) -> Self {
        Self::of(&hash)
    }

    /// The hash.
    // For sqs-mock-server.
    #[doc(hidden)]
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
    for bodies in bodies.chunks(LANES) {
        if is_faster_in_lanes(bodies) {
            hashes.extend(md5(bodies).iter().take(bodies.len()).map(|hash| Md5Hex::of(hash)));
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

    let blocks = bodies.iter().map(|body| blocks(body.as_bytes()));
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

/// Number of texts that are hashed in parallel.
///
/// Each step of MD5 depends on the previous one, so a single text cannot use vector instructions. Several texts perform each step
/// together, one per lane, in about one and a half times the time of one text.
///
/// Source: <https://www.rfc-editor.org/rfc/rfc1321>
const LANES: usize = 4;
const BLOCK: usize = 64;
const INITIAL_STATE: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

/// The four words of each lane's state: `state[0]` has the first word of every lane.
type State = [[u32; LANES]; 4];
/// The words of one block.
type Words = [u32; 16];

/// Hashes up to [`LANES`] texts. Ignore the hashes of unused lanes.
pub(super) fn md5(texts: &[impl AsRef<[u8]>]) -> [[u8; 16]; LANES] {
    let longest = texts.iter().map(|text| blocks(text.as_ref())).max().unwrap_or_default();
    let mut hashes = [[0; 16]; LANES];
    let mut words = [[0; 16]; LANES];
    let mut state = INITIAL_STATE.map(|word| [word; LANES]);
    for number in 0..longest {
        for (words, text) in words.iter_mut().zip(texts) {
            *words = words_of(&block(text.as_ref(), number));
        }
        compress(&mut state, &words);
        for (lane, (hash, text)) in hashes.iter_mut().zip(texts).enumerate() {
            if blocks(text.as_ref()) == number + 1 {
                for (bytes, word) in hash.as_chunks_mut().0.iter_mut().zip(&state) {
                    *bytes = word.get(lane).copied().unwrap_or_default().to_le_bytes();
                }
            }
        }
    }
    hashes
}

/// Number of blocks of a text, including padding and length.
fn blocks(text: &[u8]) -> usize {
    (text.len() + 8) / BLOCK + 1
}

/// A padded block of a text. Blocks after the last one are zeros.
fn block(text: &[u8], number: usize) -> [u8; BLOCK] {
    let rest = text.get(number * BLOCK..).unwrap_or_default();
    if let Some(whole) = rest.first_chunk() {
        return *whole;
    }
    let mut block = [0; BLOCK];
    if let Some(start) = block.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    if let Some(padding) = block.get_mut(rest.len())
        && number == text.len() / BLOCK
    {
        *padding = 0x80;
    }
    if let Some(end) = block.last_chunk_mut()
        && number + 1 == blocks(text)
    {
        *end = (text.len() as u64 * 8).to_le_bytes();
    }
    block
}

fn words_of(block: &[u8; BLOCK]) -> Words {
    std::array::from_fn(|at| u32::from_le_bytes(block.as_chunks().0[at]))
}

/// The compiler vectorises the loop over the lanes, since all steps are inlined and the last loop is unrolled.
fn compress(state: &mut State, words: &[Words; LANES]) {
    for lane in 0..LANES {
        let (words, before) = (&words[lane], state.each_ref().map(|word| word[lane]));
        let mut after = before;
        macro_rules! steps { ($round:literal: $($number:literal)*) => { $(
            after = step::<$round, $number>(after, words);
        )* } }
        steps!(0: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        steps!(1: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        steps!(2: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        steps!(3: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for ((word, before), after) in state.iter_mut().zip(before).zip(after) {
            word[lane] = before.wrapping_add(after);
        }
    }
}

#[inline]
fn step<const ROUND: usize, const NUMBER: usize>([a, b, c, d]: [u32; 4], words: &Words) -> [u32; 4] {
    let (mixed, at) = match ROUND {
        0 => (d ^ (b & (c ^ d)), NUMBER),
        1 => (c ^ (d & (b ^ c)), 5 * NUMBER + 1),
        2 => (b ^ c ^ d, 3 * NUMBER + 5),
        _ => (c ^ (b | !d), 7 * NUMBER),
    };
    let word = words[at % 16].wrapping_add(SINES[ROUND * 16 + NUMBER]);
    let sum = a.wrapping_add(word).wrapping_add(mixed);
    [d, sum.rotate_left(ROTATIONS[ROUND][NUMBER % 4]).wrapping_add(b), b, c]
}

#[cfg(test)]
mod lanes_tests {
    use md5::{Digest, Md5};

    use super::*;

    fn texts(lengths: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
        let bytes =
            |length: usize| (0..length).map(move |at| u8::try_from((at * 7 + length) % 251).unwrap_or(0));
        lengths.into_iter().map(|length| bytes(length).collect()).collect()
    }

    fn assert_hashes(texts: &[Vec<u8>]) {
        let slices: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        for (text, hash) in texts.iter().zip(md5(&slices)) {
            assert_eq!(hash[..], Md5::digest(text)[..], "text of {} bytes", text.len());
        }
    }

    #[test]
    fn hashes_match_md5_crate_around_block_boundaries() {
        for first in (0..=192).step_by(LANES) {
            assert_hashes(&texts(first..first + LANES));
        }
    }

    #[test]
    fn hashes_match_md5_crate_for_mixed_lengths() {
        assert_hashes(&texts([1_000]));
        assert_hashes(&texts([0, 5_000, 64, 1]));
        assert_hashes(&texts([1_024; 10]));
    }
}

/// How strictly the client verifies checksums.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChecksumPolicy {
    /// Every checksum must be present and correct. AWS sends them all.
    #[default]
    Verify,
    /// A checksum must be correct if it is present. For compatible services that omit some checksums.
    VerifyIfPresent,
    /// Checksums are not verified.
    Off,
}

/// MD5 of empty input. Some compatible services send it for messages without attributes.
const MD5_OF_EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";

/// Compares checksums and collects the mismatches.
struct Comparison {
    policy: ChecksumPolicy,
    mismatches: Vec<ChecksumMismatch>,
}

impl Comparison {
    fn new(policy: ChecksumPolicy) -> Self {
        Self { policy, mismatches: Vec::new() }
    }

    /// `expected` is `None` if the part is absent.
    fn compare(
        &mut self,
        part: &'static str,
        id: Option<&str>,
        expected: Option<Md5Hex>,
        found: Option<&str>,
    ) {
        let agrees = match (&expected, found) {
            (None, None) => true,
            (None, Some(found)) => found == MD5_OF_EMPTY,
            (Some(_), None) => self.policy == ChecksumPolicy::VerifyIfPresent,
            (Some(expected), Some(found)) => found.eq_ignore_ascii_case(expected.as_str()),
        };
        if !agrees {
            self.mismatches.push(ChecksumMismatch {
                part,
                id: id.map(str::to_owned),
                expected: expected.map(Into::into),
                found: found.map(str::to_owned),
            });
        }
    }
}

/// The checksums in the response to a send.
struct ReceivedSums<'a> {
    body: Option<&'a str>,
    attributes: Option<&'a str>,
    system_attributes: Option<&'a str>,
}

macro_rules! compare_sent {
    ($comparison:ident, $id:expr, $body:expr, $message:expr, $sums:expr) => {{
        let sums: ReceivedSums<'_> = $sums;
        let attributes = md5_of_attributes($message.message_attributes.iter().flatten());
        let system = md5_of_attributes($message.message_system_attributes.iter().flatten());
        $comparison.compare("body", $id, Some($body), sums.body);
        $comparison.compare("message attributes", $id, attributes, sums.attributes);
        $comparison.compare("message system attributes", $id, system, sums.system_attributes);
    }};
}

pub(crate) fn send_message(
    policy: ChecksumPolicy,
    input: &SendMessageInput,
    output: &SendMessageOutput,
) -> Vec<ChecksumMismatch> {
    let mut comparison = Comparison::new(policy);
    let sums = ReceivedSums {
        body: output.md5_of_message_body(),
        attributes: output.md5_of_message_attributes(),
        system_attributes: output.md5_of_message_system_attributes(),
    };
    let body = md5_of_body(input.message_body().unwrap_or_default());
    compare_sent!(comparison, None, body, input, sums);
    comparison.mismatches
}

pub(crate) fn send_message_batch(
    policy: ChecksumPolicy,
    input: &SendMessageBatchInput,
    output: &SendMessageBatchOutput,
) -> Vec<ChecksumMismatch> {
    let mut comparison = Comparison::new(policy);
    let accepted = output.successful().iter();
    // Entries with unknown ids have no message to compare with.
    let entry = |id: &str| input.entries().iter().find(|entry| entry.id == id);
    let pairs: Vec<_> = accepted.filter_map(|accepted| Some((accepted, entry(&accepted.id)?))).collect();
    let bodies: Vec<_> = pairs.iter().map(|(_, entry)| entry.message_body()).collect();
    for ((accepted, entry), body) in pairs.into_iter().zip(md5_of_bodies(&bodies)) {
        let sums = ReceivedSums {
            body: Some(accepted.md5_of_message_body()).filter(|sum| !sum.is_empty()),
            attributes: accepted.md5_of_message_attributes(),
            system_attributes: accepted.md5_of_message_system_attributes(),
        };
        compare_sent!(comparison, Some(accepted.id()), body, entry, sums);
    }
    comparison.mismatches
}

/// Moves damaged messages from `messages` to `damaged_messages`. Returns their mismatches if the receive must fail.
pub(crate) fn receive_message(
    policy: ChecksumPolicy,
    input: &ReceiveMessageInput,
    output: &mut ReceiveMessageOutput,
) -> Vec<ChecksumMismatch> {
    let mut mismatches = mismatches_by_message(policy, output);
    if mismatches.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let all = mismatches.iter().flatten().cloned().collect();
    let mut intact = Vec::new();
    for (message, mismatches) in output.messages.take().into_iter().flatten().zip(mismatches.drain(..)) {
        if mismatches.is_empty() {
            intact.push(message);
        } else {
            output.metadata_mut().damaged.push(DamagedMessage { message, mismatches });
        }
    }
    // Later messages of a FIFO group must not overtake a damaged one.
    let fails = intact.is_empty() || input.queue_url().is_some_and(is_fifo);
    output.messages = Some(intact);
    if fails { all } else { Vec::new() }
}

fn mismatches_by_message(
    policy: ChecksumPolicy,
    output: &ReceiveMessageOutput,
) -> Vec<Vec<ChecksumMismatch>> {
    let bodies: Vec<_> = output.messages().iter().map(|message| message.body().unwrap_or_default()).collect();
    let hashes = md5_of_bodies(&bodies);
    let compared = output.messages().iter().zip(hashes).map(|(message, body)| {
        let mut comparison = Comparison::new(policy);
        let id = message.message_id();
        comparison.compare("body", id, message.body().map(|_| body), message.md5_of_body());
        let attributes = md5_of_attributes(message.message_attributes.iter().flatten());
        comparison.compare("message attributes", id, attributes, message.md5_of_message_attributes());
        comparison.mismatches
    });
    compared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MessageSystemAttributeNameForSends;

    fn attributes<const N: usize>(
        pairs: [(&str, MessageAttributeValue); N],
    ) -> HashMap<String, MessageAttributeValue> {
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn labelled(mut value: MessageAttributeValue, data_type: &str) -> MessageAttributeValue {
        data_type.clone_into(&mut value.data_type);
        value
    }

    fn md5(attributes: &HashMap<String, MessageAttributeValue>) -> String {
        md5_of_attributes(attributes).expect("has attributes").into()
    }

    #[test]
    fn v1_string_number_and_binary() {
        let all = attributes([
            ("color", MessageAttributeValue::string("blue")),
            ("count", MessageAttributeValue::number(3)),
            ("blob", MessageAttributeValue::binary([1, 2, 3])),
        ]);
        assert_eq!(md5(&all), "d838729972a4b70e2d2acd9d59ac847c");
        let subset = attributes([("color", MessageAttributeValue::string("blue"))]);
        assert_eq!(md5(&subset), "da1b33cc3cbfe8b1630921e78e6b9880");
        assert_eq!(md5_of_body("hello").as_str(), "5d41402abc4b2a76b9719d911017c592");
    }

    #[test]
    fn v2_single_character_name_and_value() {
        let one = attributes([("k", MessageAttributeValue::string("x"))]);
        assert_eq!(md5(&one), "a45daa70926828a2f0a1db3418e6feb4");
    }

    #[test]
    fn v3_system_attributes() {
        let value = MessageSystemAttributeValue::builder()
            .data_type("String")
            .string_value("Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")
            .build()
            .expect("has a data type");
        let system = HashMap::from([(MessageSystemAttributeNameForSends::AwsTraceHeader, value)]);
        let md5: String = md5_of_attributes(&system).expect("has attributes").into();
        assert_eq!(md5, "5ae4d5d7636402d80f4eb6d213245a88");
    }

    #[test]
    fn v4_labels_byte_order_and_non_ascii_text() {
        let all = attributes([
            ("Zeta", labelled(MessageAttributeValue::number(42), "Number.int")),
            ("alpha", labelled(MessageAttributeValue::binary([0, 1, 2, 255]), "Binary.png")),
            ("City", MessageAttributeValue::string("Zürich €")),
        ]);
        assert_eq!(md5(&all), "295ef2840065c084ed61b3ffef1ef9fd");
        let body = r#"{"order":"№ 42 – žluťoučký","n":1}"#;
        assert_eq!(md5_of_body(body).as_str(), "867cba32b4c0bedcd58fba5fd5af65fa");
        assert_eq!(
            content_deduplication_id(body),
            "5167ce20420eca6e8f96c8e61ddc938fed9e4ee2a215f03691518eb7a28d5071"
        );
    }

    #[test]
    fn further_recorded_vectors() {
        let timestamp = attributes([("timestamp", MessageAttributeValue::number("1493147359900"))]);
        assert_eq!(md5(&timestamp), "235c5c510d26fb653d073faed50ae77c");
        let foo = attributes([("Foo", MessageAttributeValue::string("Bar"))]);
        assert_eq!(md5(&foo), "ae7155c6026991b6d54b11589678bf9c");
        let mut hello = attributes([
            ("General", MessageAttributeValue::string("Kenobi")),
            ("Hello", MessageAttributeValue::string("There")),
            ("Help.Me", MessageAttributeValue::string("Me")),
        ]);
        assert_eq!(md5(&hello), "4c360f3fdafd970e05fae2f149d997f5");
        hello.remove("Help.Me");
        assert_eq!(md5(&hello), "fca026605781cb4126a1e9044df24232");
        assert_eq!(
            content_deduplication_id("same"),
            "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5"
        );
        assert_eq!(
            content_deduplication_id(r#"{"foo": "bar"}"#),
            "426fc04f04bf8fdb5831dc37bbb6dcf70f63a37e05a68c6ea5f63e85ae579376"
        );
    }

    #[test]
    fn md5_of_many_bodies_equals_md5_of_each() {
        let bodies = |lengths: &[usize]| -> Vec<String> {
            lengths.iter().enumerate().map(|(at, length)| at.to_string().repeat(*length)).collect()
        };
        for lengths in [&[][..], &[5], &[40, 9, 70, 0], &[100_000, 1, 2, 3, 4], &[900; 10], &[60; 37]] {
            let bodies = bodies(lengths);
            let bodies: Vec<_> = bodies.iter().map(String::as_str).collect();
            let alone: Vec<_> = bodies.iter().copied().map(md5_of_body).collect();
            assert_eq!(md5_of_bodies(&bodies), alone, "{lengths:?}");
        }
    }

    #[test]
    fn md5_of_no_attributes_is_none() {
        assert_eq!(md5_of_attributes(&attributes([])), None);
    }

    #[test]
    fn message_size_counts_body_names_types_and_decoded_values() {
        let all = attributes([("blob", MessageAttributeValue::binary([1, 2, 3]))]);
        assert_eq!(message_size("Zürich", Some(&all)), 7 + 4 + 6 + 3);
        assert_eq!(message_size("", None), 0);
    }

    #[test]
    fn hash_and_digits_convert_into_each_other() {
        let hex = md5_of_body("hello");
        assert_eq!(Md5Hex::from_hash(hex.hash()), hex);
        assert_eq!(hex.hash()[..3], [0x5d, 0x41, 0x40]);
    }
}

#[cfg(test)]
mod verify_tests {
    use super::*;
    use crate::types::{
        Message, MessageAttributeValue, SendMessageBatchRequestEntry, SendMessageBatchResultEntry,
    };

    fn sent() -> SendMessageInput {
        let input = SendMessageInput::builder().message_body("hello");
        input.message_attributes("k", MessageAttributeValue::string("x")).build().expect("complete")
    }

    fn output(body: Option<&str>, attributes: Option<&str>) -> SendMessageOutput {
        SendMessageOutput::builder()
            .set_md5_of_message_body(body.map(Into::into))
            .set_md5_of_message_attributes(attributes.map(Into::into))
            .build()
    }

    const BODY: Option<&str> = Some("5d41402abc4b2a76b9719d911017c592");
    const ATTRIBUTES: Option<&str> = Some("a45daa70926828a2f0a1db3418e6feb4");
    const WRONG: Option<&str> = Some("00000000000000000000000000000000");

    #[test]
    fn wrong_or_missing_checksum_of_a_sent_message_is_reported() {
        let verify =
            |body, attributes| send_message(ChecksumPolicy::Verify, &sent(), &output(body, attributes));
        assert_eq!(verify(BODY, ATTRIBUTES), []);
        assert!(verify(WRONG, ATTRIBUTES)[0].to_string().contains("body"));
        assert!(verify(BODY, WRONG)[0].to_string().contains("message attributes"));
        assert!(verify(BODY, None)[0].to_string().contains("sent none"));
    }

    #[test]
    fn verify_if_present_accepts_missing_but_not_wrong_checksums() {
        let with =
            |policy, body, attributes| send_message(policy, &sent(), &output(body, attributes)).is_empty();
        assert!(with(ChecksumPolicy::VerifyIfPresent, BODY, None));
        assert!(!with(ChecksumPolicy::VerifyIfPresent, WRONG, None));
    }

    #[test]
    fn wrong_checksum_in_a_batch_names_the_entry() {
        let entry = |id: &str| SendMessageBatchRequestEntry::builder().id(id).message_body("hello").build();
        let input = SendMessageBatchInput::builder()
            .entries(entry("a").expect("complete"))
            .entries(entry("b").expect("complete"))
            .build()
            .expect("complete");
        let result = |id: &str, sum: Option<&str>| {
            let result = SendMessageBatchResultEntry::builder().id(id).message_id("m");
            result.md5_of_message_body(sum.unwrap_or_default()).build().expect("complete")
        };
        let output = |sum| {
            let output =
                SendMessageBatchOutput::builder().successful(result("b", sum)).successful(result("a", BODY));
            output.set_failed(Some(Vec::new())).build().expect("complete")
        };
        assert_eq!(send_message_batch(ChecksumPolicy::Verify, &input, &output(BODY)), []);
        let damaged = send_message_batch(ChecksumPolicy::Verify, &input, &output(WRONG));
        assert_eq!(damaged.iter().map(ChecksumMismatch::id).collect::<Vec<_>>(), [Some("b")]);
    }

    #[test]
    fn received_body_that_differs_from_its_checksum_is_reported() {
        let message =
            |body: &str| Message::builder().message_id("m1").body(body).set_md5_of_body(BODY.map(Into::into));
        let output = |body| ReceiveMessageOutput::builder().messages(message(body).build()).build();
        let input = ReceiveMessageInput::default();
        assert_eq!(receive_message(ChecksumPolicy::Verify, &input, &mut output("hello")), []);
        let damaged = receive_message(ChecksumPolicy::Verify, &input, &mut output("hellO"));
        assert_eq!(damaged.iter().map(ChecksumMismatch::id).collect::<Vec<_>>(), [Some("m1")]);
    }

    #[test]
    fn damaged_messages_are_separated_and_fail_a_fifo_receive_or_one_without_intact_messages() {
        let message = |id: &str, body: &str| {
            Message::builder().message_id(id).body(body).set_md5_of_body(BODY.map(Into::into)).build()
        };
        for (url, second, fails) in [
            ("http://h/0/q", "hello", false),
            ("http://h/0/q", "hellO", true),
            ("http://h/0/q.fifo", "hello", true),
        ] {
            let input = ReceiveMessageInput::builder().queue_url(url).build().expect("complete");
            let messages = [message("m1", "hellO"), message("m2", second)];
            let mut output = ReceiveMessageOutput::builder().set_messages(Some(messages.into())).build();
            let mismatches = receive_message(ChecksumPolicy::Verify, &input, &mut output);
            assert_eq!(!mismatches.is_empty(), fails, "{url} {second}");
            let damaged: Vec<_> =
                output.damaged_messages().iter().filter_map(|one| one.message.message_id()).collect();
            let intact: Vec<_> = output.messages().iter().filter_map(Message::message_id).collect();
            assert_eq!((damaged[0], intact.first()), ("m1", Some(&"m2").filter(|_| second == "hello")));
        }
    }

    #[test]
    fn attribute_checksum_without_attributes_is_reported() {
        let with_sum = |sum: &str| {
            let message =
                Message::builder().message_id("m1").body("hello").set_md5_of_body(BODY.map(Into::into));
            let message = message.md5_of_message_attributes(sum).build();
            let mut output = ReceiveMessageOutput::builder().messages(message).build();
            receive_message(ChecksumPolicy::Verify, &ReceiveMessageInput::default(), &mut output)
        };
        assert_eq!(with_sum(ATTRIBUTES.expect("set")).len(), 1);
        assert_eq!(with_sum(MD5_OF_EMPTY), []);
    }
}
