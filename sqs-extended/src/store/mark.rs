//! The mark of an upload, which identifies the writer of an object.

use std::collections::HashMap;

use crate::error::{Error, ErrorKind};
use crate::store::TOKEN_METADATA;

/// Restores the hyphens in metadata names. The adapter for `object_store` replaces them, because Azure does not allow
/// them.
pub(crate) fn with_hyphens(metadata: impl IntoIterator<Item = (String, String)>) -> HashMap<String, String> {
    let ours = |name: String| if name.starts_with("sqs_extended_") { name.replace('_', "-") } else { name };
    metadata.into_iter().map(|(name, value)| (ours(name), value)).collect()
}

/// Whether the upload with the metadata `upload` wrote the object with the metadata `found`. `None`: the object has no
/// mark.
pub(crate) fn is_of(found: &HashMap<String, String>, upload: &HashMap<String, String>) -> Option<bool> {
    let (found, mark) = (found.get(TOKEN_METADATA)?, upload.get(TOKEN_METADATA)?);
    Some(found == mark)
}

/// The outcome of a failed write that the store may have executed. `is_ours`: whether this upload wrote the object at
/// the key, if that is known.
pub(crate) fn settle(error: Error, is_ours: Option<bool>) -> Result<(), Error> {
    match is_ours {
        Some(true) => Ok(()),
        Some(false) => {
            let text = format!("{error}; the key is taken by another upload");
            Err(Error::new(ErrorKind::Exists, text).caused_by(error))
        }
        None => {
            let text = format!("{error}; the store may have written it");
            Err(Error::new(ErrorKind::Unavailable, text).caused_by(error).outcome_unknown())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(mark: &str) -> HashMap<String, String> {
        HashMap::from([(TOKEN_METADATA.to_owned(), mark.to_owned())])
    }

    #[test]
    fn object_is_recognised_by_its_mark() {
        assert_eq!(is_of(&marked("a"), &marked("a")), Some(true));
        assert_eq!(is_of(&marked("b"), &marked("a")), Some(false));
        assert_eq!(is_of(&HashMap::new(), &marked("a")), None);
        assert_eq!(is_of(&marked("a"), &HashMap::new()), None);
    }

    #[test]
    fn only_names_of_this_crate_get_hyphens() {
        let name = |name: &str| (name.to_owned(), "a".to_owned());
        let found = with_hyphens([name("sqs_extended_upload"), name("my_name")]);
        assert_eq!((found.get(TOKEN_METADATA), found.get("my_name")), (Some(&"a".into()), Some(&"a".into())));
    }

    #[test]
    fn key_counts_as_taken_only_if_another_upload_wrote_the_object() {
        for failed in [ErrorKind::Exists, ErrorKind::Unavailable, ErrorKind::Forbidden] {
            for (is_ours, kind, is_unknown) in
                [(Some(false), ErrorKind::Exists, false), (None, ErrorKind::Unavailable, true)]
            {
                let error = settle(Error::new(failed, "failed"), is_ours).unwrap_err();
                assert_eq!((error.kind(), error.is_outcome_unknown()), (kind, is_unknown));
                assert_eq!(error.is_retryable(), is_unknown);
            }
        }
        settle(Error::new(ErrorKind::Exists, "taken"), Some(true)).unwrap();
    }
}
