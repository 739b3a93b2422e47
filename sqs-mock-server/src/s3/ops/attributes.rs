//! Headers of objects, from requests and into responses.

/// Takes the attributes from an input. The inputs of S3 use the same field names.
macro_rules! attributes {
    ($input:ident) => {
        crate::s3::store::Attributes {
            metadata: $input.metadata.take().unwrap_or_default().into_iter().collect(),
            cache_control: $input.cache_control.take(),
            content_disposition: $input.content_disposition.take(),
            content_encoding: $crate::s3::ops::attributes::without_chunks($input.content_encoding.take()),
            content_language: $input.content_language.take(),
            content_type: $input.content_type.take(),
            storage_class: $input.storage_class.take().map(|class| class.as_str().to_owned()),
            server_side_encryption: $input.server_side_encryption.take().map(|kind| kind.as_str().to_owned()),
            kms_key_id: $input.ssekms_key_id.take(),
        }
    };
}

/// Sets the attribute fields of an output.
macro_rules! set_attributes {
    ($output:ident, $attributes:expr) => {
        let attributes: crate::s3::store::Attributes = $attributes;
        $output.metadata = Some(attributes.metadata.into_iter().collect());
        $output.cache_control = attributes.cache_control;
        $output.content_disposition = attributes.content_disposition;
        $output.content_encoding = attributes.content_encoding;
        $output.content_language = attributes.content_language;
        $output.content_type = attributes.content_type.or_else(|| Some("binary/octet-stream".to_owned()));
        $output.storage_class = attributes.storage_class.map(Into::into);
        $output.server_side_encryption = attributes.server_side_encryption.map(Into::into);
        $output.ssekms_key_id = attributes.kms_key_id;
    };
}
pub(super) use {attributes, set_attributes};

/// `Content-Encoding` without `aws-chunked`, which describes only the request.
pub(super) fn without_chunks(encoding: Option<String>) -> Option<String> {
    let encoding = encoding?;
    let kept: Vec<_> = encoding.split(',').map(str::trim).filter(|part| *part != "aws-chunked").collect();
    Some(kept.join(",")).filter(|kept| !kept.is_empty())
}
