//! Checksums of bytes, as S3 knows them.

use base64_simd::STANDARD;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{Checksum, ChecksumType};
use serde::{Deserialize, Serialize};

/// How a checksum is made.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(in crate::s3) enum Algorithm {
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
}

impl Algorithm {
    pub(in crate::s3) const ALL: [Self; 5] =
        [Self::Crc32, Self::Crc32c, Self::Crc64Nvme, Self::Sha1, Self::Sha256];

    /// As in `x-amz-checksum-algorithm`.
    pub(in crate::s3) fn name(self) -> &'static str {
        match self {
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Crc64Nvme => "CRC64NVME",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
        }
    }

    /// The header or trailer that holds a checksum.
    pub(in crate::s3) fn header(self) -> &'static str {
        match self {
            Self::Crc32 => "x-amz-checksum-crc32",
            Self::Crc32c => "x-amz-checksum-crc32c",
            Self::Crc64Nvme => "x-amz-checksum-crc64nvme",
            Self::Sha1 => "x-amz-checksum-sha1",
            Self::Sha256 => "x-amz-checksum-sha256",
        }
    }

    pub(in crate::s3) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    /// What sums of parts can be added up to, and what must be hashed anew: only sums of whole objects exist of it.
    pub(in crate::s3) fn is_whole_only(self) -> bool {
        self == Self::Crc64Nvme
    }
}

/// The checksum of an object or a part.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(in crate::s3) struct Sum {
    pub(in crate::s3) algorithm: Algorithm,
    /// Base64, with the number of parts behind it when it is a checksum of checksums.
    pub(in crate::s3) value: String,
}

impl Sum {
    /// The checksum of the checksums of parts; `None` when one of those has another algorithm.
    pub(in crate::s3) fn of_sums<'a>(
        algorithm: Algorithm,
        parts: impl Iterator<Item = Option<&'a Self>>,
    ) -> Option<Self> {
        let mut hashes = Hashes::new(Some(algorithm));
        let mut count = 0_usize;
        for part in parts {
            let part = part.filter(|part| part.algorithm == algorithm)?;
            hashes.update(&STANDARD.decode_to_vec(&part.value).ok()?);
            count += 1;
        }
        let (_, sum) = hashes.finish();
        sum.map(|sum| Self { value: format!("{}-{count}", sum.value), ..sum })
    }

    /// As answers have it.
    pub(in crate::s3) fn shown(this: Option<&Self>) -> Checksum {
        let mut shown = Checksum::default();
        let Some(Self { algorithm, value }) = this else { return shown };
        let kind = if value.contains('-') { ChecksumType::COMPOSITE } else { ChecksumType::FULL_OBJECT };
        shown.checksum_type = Some(ChecksumType::from_static(kind));
        let place = match algorithm {
            Algorithm::Crc32 => &mut shown.checksum_crc32,
            Algorithm::Crc32c => &mut shown.checksum_crc32c,
            Algorithm::Crc64Nvme => &mut shown.checksum_crc64nvme,
            Algorithm::Sha1 => &mut shown.checksum_sha1,
            Algorithm::Sha256 => &mut shown.checksum_sha256,
        };
        *place = Some(value.clone());
        shown
    }
}

/// What is computed while bytes go by.
pub(in crate::s3) struct Hashes {
    md5: Md5,
    algorithm: Option<Algorithm>,
    hasher: ChecksumHasher,
}

impl Hashes {
    pub(in crate::s3) fn new(algorithm: Option<Algorithm>) -> Self {
        let mut hasher = ChecksumHasher::default();
        match algorithm {
            Some(Algorithm::Crc32) => hasher.crc32 = Some(s3s::crypto::Crc32::new()),
            Some(Algorithm::Crc32c) => hasher.crc32c = Some(s3s::crypto::Crc32c::new()),
            Some(Algorithm::Crc64Nvme) => hasher.crc64nvme = Some(s3s::crypto::Crc64Nvme::new()),
            Some(Algorithm::Sha1) => hasher.sha1 = Some(s3s::crypto::Sha1::new()),
            Some(Algorithm::Sha256) => hasher.sha256 = Some(s3s::crypto::Sha256::new()),
            None => {}
        }
        Self { md5: Md5::new(), algorithm, hasher }
    }

    pub(in crate::s3) fn update(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
        self.hasher.update(bytes);
    }

    /// The MD5 sum, and the checksum that was asked for.
    pub(in crate::s3) fn finish(self) -> ([u8; 16], Option<Sum>) {
        let all = self.hasher.finalize();
        let value = all.checksum_crc32.or(all.checksum_crc32c).or(all.checksum_crc64nvme);
        let value = value.or(all.checksum_sha1).or(all.checksum_sha256);
        (self.md5.finalize(), self.algorithm.zip(value).map(|(algorithm, value)| Sum { algorithm, value }))
    }
}
