//! What is said about an object when it is written, in one request or at the beginning of several.

use std::collections::HashMap;

use aws_sdk_s3::types::ServerSideEncryption;
use base64_simd::STANDARD;

use super::S3Store;
use super::settings::Encryption;
use crate::digest::{SHA256_METADATA, hex};
use crate::random;

/// The name in the metadata by which an upload knows its own object again.
const TOKEN: &str = "sqs-extended-upload";

/// What an object is.
pub(super) struct About {
    pub(super) content_type: Option<String>,
    pub(super) content_encoding: Option<String>,
    metadata: HashMap<String, String>,
    token: String,
}

impl About {
    pub(super) fn new(
        content_type: Option<String>,
        content_encoding: Option<String>,
        mut metadata: HashMap<String, String>,
    ) -> Self {
        let token = random::uuid();
        metadata.insert(TOKEN.to_owned(), token.clone());
        Self { content_type, content_encoding, metadata, token }
    }

    /// Says the SHA-256 of all bytes, unless somebody has. That of an encoded body is not that of its payload.
    pub(super) fn name_hash(&mut self, sha256: &[u8]) {
        if self.content_encoding.is_none() {
            self.metadata.entry(SHA256_METADATA.to_owned()).or_insert_with(|| hex(sha256));
        }
    }

    pub(super) fn metadata(&self) -> HashMap<String, String> {
        self.metadata.clone()
    }

    /// Whether an object with this metadata is the one of this upload.
    pub(super) fn is_of(&self, metadata: Option<&HashMap<String, String>>) -> bool {
        metadata.and_then(|metadata| metadata.get(TOKEN)) == Some(&self.token)
    }
}

/// The members that `PutObject` and `CreateMultipartUpload` share.
macro_rules! describe {
    ($request:expr, $store:expr, $at:expr, $about:expr) => {{
        let (settings, encryption) = ($store.settings(), $store.encryption());
        $request
            .bucket($at.bucket())
            .key($at.key())
            .set_content_type($about.content_type.clone())
            .set_content_encoding($about.content_encoding.clone())
            .set_metadata(Some($about.metadata()))
            .set_acl(settings.acl.clone())
            .set_storage_class(settings.storage_class.clone())
            .set_tagging($store.0.tagging.clone())
            .set_expected_bucket_owner($store.owner())
            .set_server_side_encryption(encryption.method)
            .set_ssekms_key_id(encryption.key)
            .set_ssekms_encryption_context(encryption.context)
    }};
}
pub(super) use describe;

/// [`Encryption`] as the members of a request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct EncryptionMembers {
    pub(super) method: Option<ServerSideEncryption>,
    pub(super) key: Option<String>,
    pub(super) context: Option<String>,
}

impl S3Store {
    pub(super) fn encryption(&self) -> EncryptionMembers {
        members(self.settings().encryption.as_ref())
    }
}

fn members(encryption: Option<&Encryption>) -> EncryptionMembers {
    match encryption {
        None => EncryptionMembers::default(),
        Some(Encryption::S3) => {
            EncryptionMembers { method: Some(ServerSideEncryption::Aes256), ..EncryptionMembers::default() }
        }
        Some(Encryption::Kms { key, context }) => {
            let names = context.iter().map(|(name, value)| (name.clone(), value.clone().into()));
            let json = serde_json::Value::Object(names.collect()).to_string();
            EncryptionMembers {
                method: Some(ServerSideEncryption::AwsKms),
                key: key.clone(),
                context: (!context.is_empty()).then(|| STANDARD.encode_to_string(json)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_of_kms_is_json_in_base64() {
        let context = vec![("app".to_owned(), "a\"b".to_owned())];
        let members = members(Some(&Encryption::Kms { key: Some("alias/k".into()), context }));
        assert_eq!(members.method, Some(ServerSideEncryption::AwsKms));
        assert_eq!(members.key.as_deref(), Some("alias/k"));
        let json = STANDARD.decode_to_vec(members.context.unwrap()).unwrap();
        assert_eq!(json, br#"{"app":"a\"b"}"#);
    }

    #[test]
    fn the_hash_is_that_of_the_payload_or_none() {
        let hash = |encoding: Option<&str>, metadata: &[(&str, &str)]| {
            let metadata = metadata.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let mut about = About::new(None, encoding.map(str::to_owned), metadata.collect());
            about.name_hash(&[0xab; 32]);
            about.metadata().remove("sha256")
        };
        assert_eq!(hash(None, &[]), Some("ab".repeat(32)));
        assert_eq!(hash(None, &[("sha256", "cd")]).as_deref(), Some("cd"), "what was said before");
        assert_eq!(hash(Some("gzip"), &[]), None);
    }

    #[test]
    fn an_object_is_known_again_by_its_token() {
        let (mine, other) = (About::new(None, None, HashMap::new()), About::new(None, None, HashMap::new()));
        assert!(mine.is_of(Some(&mine.metadata())));
        assert!(!mine.is_of(Some(&other.metadata())));
        assert!(!mine.is_of(None));
    }
}
