//! Which objects may be deleted: pure.

use std::time::{Duration, SystemTime};

use crate::key::ends_with_uuid;

/// What an object in a listing is, or an upload that never ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// Its name is none that this crate or one of the other libraries gives.
    Foreign,
    /// A message may still need it.
    Young,
    /// No message can need it any more.
    Orphan,
}

/// An object that is exactly as old as `older_than` is still young.
pub(super) fn judge(key: &str, written: SystemTime, now: SystemTime, older_than: Duration) -> Verdict {
    if !ends_with_uuid(key) {
        return Verdict::Foreign;
    }
    // One from the future has no age.
    let age = now.duration_since(written).unwrap_or_default();
    if age > older_than { Verdict::Orphan } else { Verdict::Young }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "01234567-89ab-4cde-8f01-23456789ABCD";

    fn verdict(key: &str, age: u64) -> Verdict {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        judge(key, now - Duration::from_secs(age), now, Duration::from_secs(100))
    }

    #[test]
    fn only_old_objects_with_names_of_ours_are_orphans() {
        assert_eq!(verdict(UUID, 101), Verdict::Orphan);
        assert_eq!(verdict(&format!("orders/{UUID}"), 101), Verdict::Orphan);
        assert_eq!(verdict(UUID, 100), Verdict::Young);
        assert_eq!(verdict("orders/readme.txt", 101), Verdict::Foreign);
        assert_eq!(verdict(&UUID[1..], 101), Verdict::Foreign);
        assert_eq!(verdict(&format!("{UUID}x"), 101), Verdict::Foreign);
        assert_eq!(verdict(&"ü".repeat(36), 101), Verdict::Foreign);
        let soon = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
        assert_eq!(judge(UUID, soon, SystemTime::UNIX_EPOCH, Duration::ZERO), Verdict::Young);
    }
}
