//! Random jitter and random ids.
//!
//! The layers over this crate use it too. It is not part of the public API.

/// Random number from 0 (inclusive) to 1 (exclusive). Use it for jitter only: the sequence is predictable.
#[expect(clippy::disallowed_methods, reason = "this is the seed module")]
pub fn unit() -> f64 {
    fastrand::f64()
}

/// A random UUID (version 4) as text.
///
/// Every call gets its bits from the operating system. A generator inside the process would repeat ids in forked processes
/// and restored snapshots. SQS silently drops a message with a repeated deduplication id.
///
/// # Panics
/// The random number generator of the operating system fails. `HashMap` has the same requirement.
pub fn uuid() -> String {
    let mut bytes = [0; 16];
    // Not `Uuid::new_v4`: other crates can switch it to a generator inside the process with a feature of `uuid`.
    #[expect(clippy::expect_used, reason = "see Panics")]
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_has_version_and_variant_of_version_4() {
        let id = uuid();
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&id.as_bytes()[19]));
    }

    #[test]
    fn uuids_do_not_depend_on_the_jitter_seed() {
        fastrand::seed(7);
        let (jitter, id) = (unit(), uuid());
        fastrand::seed(7);
        assert!((unit() - jitter).abs() < f64::EPSILON, "the jitter must repeat");
        assert_ne!(uuid(), id);
    }

    #[test]
    fn unit_is_at_least_zero_and_below_one() {
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&unit())));
    }
}
