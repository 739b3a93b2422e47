//! Binary values as base64 text. JSON, forms and XML all use it.

use aws_smithy_types::Blob;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

fn encode(blob: &Blob) -> String {
    base64_simd::STANDARD.encode_to_string(blob.as_ref())
}

fn decode<E: Error>(text: &str) -> Result<Blob, E> {
    base64_simd::STANDARD
        .decode_to_vec(text)
        .map(Blob::new)
        .map_err(|_| E::custom("the binary value is not valid base64"))
}

/// `Option<Blob>`.
pub(crate) mod option {
    use super::{Blob, Deserialize, Deserializer, Serializer, decode, encode};

    #[allow(clippy::ref_option, reason = "serde's `with` requires this signature")]
    pub(crate) fn serialize<S: Serializer>(blob: &Option<Blob>, serializer: S) -> Result<S::Ok, S::Error> {
        match blob {
            Some(blob) => serializer.serialize_some(&encode(blob)),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Blob>, D::Error> {
        Option::<String>::deserialize(deserializer)?.as_deref().map(decode).transpose()
    }
}

/// `Option<Vec<Blob>>`.
pub(crate) mod list {
    use super::{Blob, Deserialize, Deserializer, Serializer, decode, encode};

    #[allow(clippy::ref_option, reason = "serde's `with` requires this signature")]
    pub(crate) fn serialize<S: Serializer>(
        blobs: &Option<Vec<Blob>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match blobs {
            Some(blobs) => serializer.serialize_some(&blobs.iter().map(encode).collect::<Vec<_>>()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<Blob>>, D::Error> {
        let texts = Option::<Vec<String>>::deserialize(deserializer)?;
        texts.map(|texts| texts.iter().map(|text| decode(text)).collect()).transpose()
    }
}
