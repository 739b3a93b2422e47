//! The description of a new object, in one request or at the start of an upload in parts.

use std::collections::HashMap;

use aws_sdk_s3::types::ServerSideEncryption;
use base64_simd::STANDARD;

use super::S3Store;
use super::settings::Encryption;

/// The description of a new object.
pub(super) struct About {
    pub(super) content_type: Option<String>,
    pub(super) metadata: HashMap<String, String>,
}

/// The members that `PutObject` and `CreateMultipartUpload` share.
macro_rules! describe {
    ($request:expr, $store:expr, $at:expr, $about:expr) => {{
        let (settings, encryption) = ($store.settings(), $store.encryption());
        $request
            .bucket($at.bucket())
            .key($at.key())
            .set_content_type($about.content_type.clone())
            .set_metadata(Some($about.metadata.clone()))
            .set_acl(settings.acl.clone())
            .set_storage_class(settings.storage_class.clone())
            .set_tagging($store.0.tagging.clone())
            .set_expected_bucket_owner($store.owner($at.bucket()))
            .set_server_side_encryption(encryption.method)
            .set_ssekms_key_id(encryption.key)
            .set_ssekms_encryption_context(encryption.context)
            .set_bucket_key_enabled(settings.bucket_key)
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
    let kms = |method, key: &Option<String>, context: &[(String, String)]| {
        let names = context.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        let json = serde_json::Value::Object(names.collect()).to_string();
        let context = (!context.is_empty()).then(|| STANDARD.encode_to_string(json));
        EncryptionMembers { method: Some(method), key: key.clone(), context }
    };
    match encryption {
        None => EncryptionMembers::default(),
        Some(Encryption::S3) => {
            EncryptionMembers { method: Some(ServerSideEncryption::Aes256), ..EncryptionMembers::default() }
        }
        Some(Encryption::Kms { key, context }) => kms(ServerSideEncryption::AwsKms, key, context),
        Some(Encryption::KmsDsse { key, context }) => kms(ServerSideEncryption::AwsKmsDsse, key, context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_context_is_json_in_base64() {
        let (key, context) = (Some("alias/k".to_owned()), vec![("app".to_owned(), "a\"b".to_owned())]);
        for (encryption, method) in [
            (Encryption::Kms { key: key.clone(), context: context.clone() }, ServerSideEncryption::AwsKms),
            (Encryption::KmsDsse { key: key.clone(), context }, ServerSideEncryption::AwsKmsDsse),
        ] {
            let members = members(Some(&encryption));
            assert_eq!((members.method, &members.key), (Some(method), &key));
            let json = STANDARD.decode_to_vec(members.context.unwrap()).unwrap();
            assert_eq!(json, br#"{"app":"a\"b"}"#);
        }
    }
}
