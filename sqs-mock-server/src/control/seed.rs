//! Randomness. All random values of a server derive from one seed, so that a run can be repeated.
//!
//! Each purpose has its own generator. Queues therefore share no lock for ids, and the traffic of one queue does not
//! change the ids of another.

use fastrand::Rng;

use crate::control::text::serialize_as_text;

/// The seed of all random values of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Seed(pub(crate) u64);

impl std::fmt::Display for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Seed {
    /// A random seed.
    #[expect(clippy::disallowed_methods, reason = "the one place where chance comes in")]
    pub(crate) fn random() -> Self {
        Self(Rng::new().u64(..))
    }

    /// The seed of a process after this number of earlier ones, whose random values it must not repeat.
    #[cfg(feature = "durable")]
    pub(crate) fn after(self, starts: u64) -> Self {
        if starts == 0 { self } else { Self(scramble(self.0 ^ scramble(starts))) }
    }

    /// The generator for one purpose. The same seed and purpose produce the same numbers.
    pub(crate) fn generator(self, purpose: &str) -> Rng {
        Rng::with_seed(self.mixed_with(purpose.as_bytes()))
    }

    /// The seed of one queue. `incarnation` distinguishes successive queues of the same name.
    pub(crate) fn of_queue(self, arn: &str, incarnation: u64) -> Self {
        Self(scramble(self.mixed_with(arn.as_bytes()) ^ scramble(incarnation)))
    }

    /// FNV-1a over the bytes, starting from the seed. Stable across versions and machines.
    fn mixed_with(self, bytes: &[u8]) -> u64 {
        let start = scramble(self.0) ^ 0xcbf2_9ce4_8422_2325;
        let hash =
            bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        scramble(hash)
    }
}

/// The finaliser of `SplitMix64` (<https://prng.di.unimi.it/splitmix64.c>): on average, each input bit flips half of
/// the output bits.
pub(crate) const fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A UUID of version 4.
pub(crate) fn uuid(generator: &mut Rng) -> Uuid {
    Uuid::of_bits(generator.u128(..))
}

/// UUIDs computed from numbers: callers store the number instead of the UUID.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UuidSeries([u64; 2]);

impl UuidSeries {
    pub(crate) fn new(mut generator: Rng) -> Self {
        Self([generator.u64(..), generator.u64(..)])
    }

    pub(crate) fn of(self, number: u64) -> Uuid {
        let [high, low] = self.0.map(|key| scramble(key ^ scramble(number)));
        Uuid::of_bits(u128::from(high) << 64 | u128::from(low))
    }
}

/// A UUID, shown as 36 lower-case characters.
///
/// Stored as bytes, since `u128` would align the containing type to 16 bytes.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// A UUID from its bytes.
    #[cfg(any(test, feature = "durable"))]
    pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, in the order of the text.
    #[cfg(feature = "durable")]
    pub(crate) const fn bytes(self) -> [u8; 16] {
        self.0
    }

    fn of_bits(bits: u128) -> Self {
        let versioned = bits & !(0xf << 76) | (0x4 << 76);
        let marked = versioned & !(0x3 << 62) | (0x2 << 62);
        Self(marked.to_be_bytes())
    }
}

/// Reads the form in which it is displayed.
impl std::str::FromStr for Uuid {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(&text.replace('-', ""), 16).map(|bits| Self(bits.to_be_bytes()))
    }
}

impl std::fmt::Display for Uuid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Each message shows one, and `write!` with five numbers takes much longer.
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
        let mut text = [b'-'; 36];
        let mut bytes = self.0.iter();
        for group in [0..8, 9..13, 14..18, 19..23, 24..36] {
            for (pair, byte) in text[group].as_chunks_mut().0.iter_mut().zip(&mut bytes) {
                *pair = [digit(byte >> 4), digit(byte & 15)];
            }
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl std::fmt::Debug for Uuid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

serialize_as_text!(Uuid);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_and_purpose_produce_the_same_numbers() {
        let draw = |seed: u64, purpose: &str| Seed(seed).generator(purpose).u64(..);
        assert_eq!(draw(7, "request ids"), draw(7, "request ids"));
        assert_ne!(draw(7, "request ids"), draw(8, "request ids"));
        assert_ne!(draw(7, "request ids"), draw(7, "faults"));
    }

    #[test]
    fn recreated_queue_draws_different_numbers() {
        let arn = "arn:aws:sqs:us-east-1:000000000000:a";
        assert_eq!(Seed(1).of_queue(arn, 0), Seed(1).of_queue(arn, 0));
        assert_ne!(Seed(1).of_queue(arn, 0), Seed(1).of_queue(arn, 1));
    }

    #[test]
    fn ids_have_the_format_of_a_random_uuid() {
        let mut generator = Seed(3).generator("ids");
        let series = UuidSeries::new(Seed(3).generator("series"));
        let all = (0..100).flat_map(|number| [uuid(&mut generator), series.of(number)]);
        for text in all.map(|id| id.to_string()) {
            let parts: Vec<_> = text.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{text}");
            assert_eq!(&text[14..15], "4", "{text}");
            assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "{text}");
        }
        let id = Uuid([
            0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x98, 0x76, 0x54, 0x32, 0x10, 0xfe, 0xdc, 0xba,
        ]);
        assert_eq!(id.to_string(), "01234567-89ab-cdef-9876-543210fedcba");
    }
}
