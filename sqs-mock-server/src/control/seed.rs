//! Randomness. All random values of a server derive from one seed, so that a run can be repeated.
//!
//! Each purpose has its own generator. Queues therefore share no lock for ids, and the traffic of one queue does not
//! change the ids of another.

use fastrand::Rng;
use uuid::Builder;
pub use uuid::Uuid;

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
    of_bits(generator.u128(..))
}

fn of_bits(bits: u128) -> Uuid {
    Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
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
        of_bits(u128::from(high) << 64 | u128::from(low))
    }
}

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
    }
}
