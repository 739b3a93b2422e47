//! Randomness: jitter for pauses, and ids that leave the process.
//!
//! The layers over this crate use it too; it is no part of the public API.

/// From 0 up to, but not including, 1. For jitter alone: the sequence is predictable.
#[expect(clippy::disallowed_methods, reason = "this is the seed module")]
pub fn unit() -> f64 {
    fastrand::f64()
}

/// A random UUID (version 4) as text.
///
/// The bits come from the operating system at each call. A generator inside the process would repeat ids in forked
/// processes and restored snapshots, and SQS accepts and drops a message with a repeated deduplication id.
///
/// # Panics
/// The operating system has no randomness. Every `HashMap` needs it too.
pub fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_have_the_form_of_version_4() {
        let id = uuid();
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&id.as_bytes()[19]));
    }

    #[test]
    fn uuids_do_not_repeat_when_the_generator_of_jitter_does() {
        fastrand::seed(7);
        let (jitter, id) = (unit(), uuid());
        fastrand::seed(7);
        assert!((unit() - jitter).abs() < f64::EPSILON, "the jitter repeats");
        assert_ne!(uuid(), id);
    }

    #[test]
    fn unit_is_between_zero_and_one() {
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&unit())));
    }
}
