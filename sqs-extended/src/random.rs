//! The one place where this crate takes randomness: names of objects, and jitter of pauses.

/// From 0 to 1.
#[expect(clippy::disallowed_methods, reason = "this is the seed module")]
pub(crate) fn unit() -> f64 {
    fastrand::f64()
}

/// A random UUID (version 4) as text.
#[expect(clippy::disallowed_methods, reason = "this is the seed module")]
pub(crate) fn uuid() -> String {
    let bits = (u128::from(fastrand::u64(..)) << 64) | u128::from(fastrand::u64(..));
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
}
