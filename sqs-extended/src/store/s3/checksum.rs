//! Checksums of uploads.

use aws_sdk_s3::types::ChecksumAlgorithm;
use base64_simd::STANDARD;
use crc_fast::CrcAlgorithm;
use sha2::{Digest as _, Sha256};

use crate::store::parts::Part;

/// Bytes to hash before other tasks get a turn.
const STEP: usize = 256 << 10;

/// The checksum of uploads, which S3 verifies and stores.
///
/// See [Checking object integrity](https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html). Some
/// compatible services accept only some of them, or none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Checksum {
    /// CRC-32, the default of the AWS SDKs.
    #[default]
    Crc32,
    /// CRC-32C.
    Crc32C,
    /// CRC-64/NVME.
    Crc64Nvme,
    /// SHA-256. It costs more CPU than the others.
    Sha256,
    /// No checksum is sent.
    None,
}

impl Checksum {
    pub(super) fn algorithm(self) -> Option<ChecksumAlgorithm> {
        match self {
            Self::Crc32 => Some(ChecksumAlgorithm::Crc32),
            Self::Crc32C => Some(ChecksumAlgorithm::Crc32C),
            Self::Crc64Nvme => Some(ChecksumAlgorithm::Crc64Nvme),
            Self::Sha256 => Some(ChecksumAlgorithm::Sha256),
            Self::None => None,
        }
    }

    /// The checksum of a part.
    pub(super) async fn of(self, part: &Part) -> Sum {
        let mut hash = Hash::new(self);
        if let Some(hash) = &mut hash {
            for bytes in part.pieces().iter().flat_map(|piece| piece.chunks(STEP)) {
                hash.update(bytes);
                tokio::task::yield_now().await;
            }
        }
        Sum { of: self, base64: hash.map(Hash::finish) }
    }
}

/// The checksum of a request.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    of: Checksum,
    base64: Option<String>,
}

impl Sum {
    /// The member of a request for this checksum.
    pub(super) fn member(&self, checksum: Checksum) -> Option<String> {
        self.base64.clone().filter(|_| self.of == checksum)
    }
}

/// Sets the members of requests and completed parts.
macro_rules! with_checksum {
    ($request:expr, $sum:expr) => {
        $request
            .set_checksum_crc32($sum.member(Checksum::Crc32))
            .set_checksum_crc32_c($sum.member(Checksum::Crc32C))
            .set_checksum_crc64_nvme($sum.member(Checksum::Crc64Nvme))
            .set_checksum_sha256($sum.member(Checksum::Sha256))
    };
}
pub(super) use with_checksum;

enum Hash {
    /// With the number of its bytes.
    Crc(crc_fast::Digest, usize),
    Sha256(Sha256),
}

impl Hash {
    fn new(checksum: Checksum) -> Option<Self> {
        let crc = |algorithm, bytes| Self::Crc(crc_fast::Digest::new(algorithm), bytes);
        match checksum {
            Checksum::Crc32 => Some(crc(CrcAlgorithm::Crc32IsoHdlc, 4)),
            Checksum::Crc32C => Some(crc(CrcAlgorithm::Crc32Iscsi, 4)),
            Checksum::Crc64Nvme => Some(crc(CrcAlgorithm::Crc64Nvme, 8)),
            Checksum::Sha256 => Some(Self::Sha256(Sha256::new())),
            Checksum::None => None,
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc(crc, _) => crc.update(bytes),
            Self::Sha256(hash) => hash.update(bytes),
        }
    }

    fn finish(self) -> String {
        match self {
            Self::Crc(crc, bytes) => STANDARD.encode_to_string(&crc.finalize().to_be_bytes()[8 - bytes..]),
            Self::Sha256(hash) => STANDARD.encode_to_string(hash.finalize()),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// The check values of the catalogue of CRCs, <https://reveng.sourceforge.io/crc-catalogue/all.htm>.
    #[tokio::test]
    async fn checksum_of_a_part_is_that_of_all_its_pieces() {
        let part = Part::new(vec![Bytes::from_static(b"1234"), Bytes::from_static(b"56789")]);
        for (checksum, expected) in [
            (Checksum::Crc32, Some(vec![0xcb, 0xf4, 0x39, 0x26])),
            (Checksum::Crc32C, Some(vec![0xe3, 0x06, 0x92, 0x83])),
            (Checksum::Crc64Nvme, Some(vec![0xae, 0x8b, 0x14, 0x86, 0x0a, 0x79, 0x98, 0x88])),
            (Checksum::Sha256, Some(Sha256::digest(b"123456789").to_vec())),
            (Checksum::None, None),
        ] {
            let sum = checksum.of(&part).await;
            let sent = sum.member(checksum).map(|base64| STANDARD.decode_to_vec(base64).unwrap());
            assert_eq!(sent, expected, "{checksum:?}");
            let other = if checksum == Checksum::Crc32 { Checksum::Sha256 } else { Checksum::Crc32 };
            assert_eq!(sum.member(other), None);
        }
    }
}
