//! Blocks of IP addresses, such as `10.0.0.0/24`.

use std::net::IpAddr;

use super::fault::Fault;

/// A block of addresses of one version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Block {
    base: IpAddr,
    mask_bits: u32,
}

impl Block {
    /// # Errors
    /// No block in CIDR notation.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let slash = || Fault::policy("Malformed CIDR, one '/' required");
        let (address, mask_bits) = text.split_once('/').ok_or_else(slash)?;
        if mask_bits.is_empty() || mask_bits.contains('/') {
            return Err(slash());
        }
        let integer = |_| Fault::policy("Malformed CIDR, mask bits must be an integer");
        let mask_bits: i32 = mask_bits.parse().map_err(integer)?;
        let nonstandard = |_| Fault::policy(format_args!("Nonstandard IP address: {address}"));
        let base: IpAddr = address.parse().map_err(nonstandard)?;
        let (_, width) = bits(base);
        let range = || Fault::policy(format_args!("Malformed CIDR, mask bits must be from 0 to {width}"));
        let mask_bits = u32::try_from(mask_bits).ok().filter(|bits| *bits <= width).ok_or_else(range)?;
        Ok(Self { base, mask_bits })
    }

    /// Whether the text is an address of the block.
    pub(super) fn contains(self, text: &str) -> bool {
        let Ok(address) = text.parse::<IpAddr>() else { return false };
        let ((base, width), (address, other_width)) = (bits(self.base), bits(address));
        // A shift by the whole width leaves nothing to compare.
        let differing = (base ^ address).checked_shr(width - self.mask_bits).unwrap_or_default();
        width == other_width && differing == 0
    }
}

/// The address as a number, and its width.
fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}
