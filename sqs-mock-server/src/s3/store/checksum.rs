//! The checksum algorithms of S3.

use std::fmt::Write as _;

use base64_simd::STANDARD;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{Checksum, ChecksumType};
use serde::{Deserialize, Serialize};

/// A checksum algorithm.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Algorithm {
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
}

impl Algorithm {
    pub(crate) const ALL: [Self; 5] = [Self::Crc32, Self::Crc32c, Self::Crc64Nvme, Self::Sha1, Self::Sha256];

    /// The name in `x-amz-checksum-algorithm`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Crc64Nvme => "CRC64NVME",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
        }
    }

    /// The header or trailer of the checksum.
    pub(crate) fn header(self) -> String {
        format!("x-amz-checksum-{}", self.name().to_ascii_lowercase())
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }
}

/// The checksum of an object or a part.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct StoredChecksum {
    pub(crate) algorithm: Algorithm,
    /// Base64; a composite checksum ends in `-` and the number of parts.
    pub(crate) value: String,
}

impl StoredChecksum {
    /// The composite checksum of parts; `None` if a part has another algorithm or no checksum.
    pub(crate) fn of_checksums<'a>(
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
        let (_, checksum) = hashes.finish();
        checksum.map(|checksum| Self { value: format!("{}-{count}", checksum.value), ..checksum })
    }

    /// The checksum fields of a response.
    pub(crate) fn fields(this: Option<&Self>) -> Checksum {
        let mut fields = Checksum::default();
        let Some(Self { algorithm, value }) = this else { return fields };
        let kind = if value.contains('-') { ChecksumType::COMPOSITE } else { ChecksumType::FULL_OBJECT };
        fields.checksum_type = Some(ChecksumType::from_static(kind));
        let place = match algorithm {
            Algorithm::Crc32 => &mut fields.checksum_crc32,
            Algorithm::Crc32c => &mut fields.checksum_crc32c,
            Algorithm::Crc64Nvme => &mut fields.checksum_crc64nvme,
            Algorithm::Sha1 => &mut fields.checksum_sha1,
            Algorithm::Sha256 => &mut fields.checksum_sha256,
        };
        *place = Some(value.clone());
        fields
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Computes MD5, and a checksum if an algorithm is set.
pub(crate) struct Hashes {
    md5: Md5,
    algorithm: Option<Algorithm>,
    hasher: ChecksumHasher,
}

impl Hashes {
    pub(crate) fn new(algorithm: Option<Algorithm>) -> Self {
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

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
        self.hasher.update(bytes);
    }

    /// The MD5 digest, and the checksum if an algorithm is set.
    pub(crate) fn finish(self) -> ([u8; 16], Option<StoredChecksum>) {
        let all = self.hasher.finalize();
        let value = all.checksum_crc32.or(all.checksum_crc32c).or(all.checksum_crc64nvme);
        let value = value.or(all.checksum_sha1).or(all.checksum_sha256);
        (
            self.md5.finalize(),
            self.algorithm.zip(value).map(|(algorithm, value)| StoredChecksum { algorithm, value }),
        )
    }
}
