//! The one place where clients take randomness: jitter of pauses, and ids that only have to be different. For the layers
//! over this crate too, and for nobody else.

#[expect(clippy::disallowed_methods, reason = "this is the seed module")]
fn next() -> u64 {
    fastrand::u64(..)
}

/// From 0 up to, but not including, 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
pub fn unit() -> f64 {
    (next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A random UUID (version 4) as text.
pub fn uuid() -> String {
    let bits = (u128::from(next()) << 64) | u128::from(next());
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
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
        assert_ne!(id, uuid());
    }

    #[test]
    fn unit_is_between_zero_and_one() {
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&unit())));
    }
}
