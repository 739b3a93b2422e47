//! Receipt handles with a pointer, so that deleting a message can delete its payload.

use std::fmt;

use sqs_client::types::Message;

use crate::format::pointer::Pointer;

const BUCKET: &str = "-..s3BucketName..-";

const KEY: &str = "-..s3Key..-";

/// A receipt handle with a pointer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ExtendedHandle {
    pointer: Pointer,
    original: String,
}

impl ExtendedHandle {
    /// Adds a pointer to a receipt handle of SQS.
    pub fn new(pointer: Pointer, original: impl Into<String>) -> Self {
        Self { pointer, original: original.into() }
    }

    /// Parses a receipt handle. Returns `None` if it has no pointer.
    pub fn parse(handle: &str) -> Option<Self> {
        let (bucket, rest) = handle.strip_prefix(BUCKET)?.split_once(BUCKET)?;
        let (key, original) = rest.strip_prefix(KEY)?.split_once(KEY)?;
        Some(Self::new(Pointer::new(bucket, key), original))
    }

    /// Whether the text of the handle can be parsed. It cannot if the bucket or the key contains a separator.
    pub fn is_readable(&self) -> bool {
        Self::parse(&self.to_string()).as_ref() == Some(self)
    }

    /// The location of the payload.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }

    /// The receipt handle of SQS.
    pub fn original(&self) -> &str {
        &self.original
    }
}

impl fmt::Display for ExtendedHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, original } = self;
        write!(f, "{BUCKET}{}{BUCKET}{KEY}{}{KEY}{original}", pointer.bucket(), pointer.key())
    }
}

/// The receipt handle of SQS, without a pointer.
pub(crate) fn original_handle(message: &Message) -> Option<String> {
    let mut handle = message.receipt_handle()?.to_owned();
    strip(&mut handle);
    Some(handle)
}

/// Puts a pointer in front of the receipt handle, unless there is one.
pub(crate) fn extend_handle(message: &mut Message, pointer: &Pointer) {
    if let Some(original) = original_handle(message) {
        message.receipt_handle = Some(ExtendedHandle::new(pointer.clone(), original).to_string());
    }
}

/// Removes the pointer from a receipt handle, if there is one.
pub(crate) fn strip(handle: &mut String) -> Option<Pointer> {
    let parsed = ExtendedHandle::parse(handle)?;
    *handle = parsed.original;
    Some(parsed.pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_handles_with_a_complete_pointer_are_stripped() {
        let mut handle = "-..s3BucketName..-B-..s3BucketName..--..s3Key..-K-..s3Key..-AQEB".to_owned();
        assert_eq!(strip(&mut handle), Some(Pointer::new("B", "K")));
        assert_eq!(handle, "AQEB");
        assert_eq!(strip(&mut handle), None);
        assert_eq!(handle, "AQEB");
    }

    #[test]
    fn text_is_that_of_the_java_library() {
        let handle = ExtendedHandle::new(Pointer::new("B", "K"), "ORIGINAL");
        let text = "-..s3BucketName..-B-..s3BucketName..--..s3Key..-K-..s3Key..-ORIGINAL";
        assert_eq!(handle.to_string(), text);
        assert_eq!(ExtendedHandle::parse(text), Some(handle));
    }

    #[test]
    fn original_handle_is_kept_verbatim() {
        for original in ["", "AQEB/+=", "a-..s3Key..-b", "-..s3BucketName..-"] {
            let handle = ExtendedHandle::new(Pointer::new("b", "k/1"), original);
            assert_eq!(
                ExtendedHandle::parse(&handle.to_string()).expect("has a pointer").original(),
                original
            );
        }
    }

    #[test]
    fn handle_without_a_complete_pointer_has_none() {
        for plain in
            ["", "AQEB", "-..s3BucketName..-B", "-..s3BucketName..-B-..s3BucketName..-K", "x-..s3Key..-K"]
        {
            assert_eq!(ExtendedHandle::parse(plain), None, "{plain}");
        }
    }
}
