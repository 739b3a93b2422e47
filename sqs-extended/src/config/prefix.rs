//! The prefix of the keys of new objects.

use crate::error::{Error, ErrorKind};

/// The maximum key length of S3 minus the length of a UUID.
const MAX_CHARS: usize = 1_024 - 36;

/// Checks a prefix by the rules of the Java library, so that its users can read and name the same keys.
pub(crate) fn check(prefix: &str) -> Result<(), Error> {
    let refuse = |why: &str| {
        let rule = format!(
            "key prefix {prefix:?} {why}; allowed are at most {MAX_CHARS} characters of A-Z a-z 0-9 . / _ -, not starting with . \
             or /, and without .."
        );
        Err(Error::new(ErrorKind::Config, rule))
    };
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-');
    if prefix.len() > MAX_CHARS {
        return refuse("is too long");
    }
    if !prefix.bytes().all(is_legal) {
        return refuse("contains another character");
    }
    if prefix.starts_with(['.', '/']) {
        return refuse("starts with . or /");
    }
    if prefix.contains("..") {
        return refuse("contains ..");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_follows_the_rules_of_the_java_library() {
        for good in ["", "orders/", "a.b_c-d/E/9", &"x".repeat(MAX_CHARS)] {
            assert!(check(good).is_ok(), "{good:?}");
        }
        for bad in [".hidden", "/root", "a..b", "with space", "ümlaut", "a\\b", &"x".repeat(MAX_CHARS + 1)] {
            let error = check(bad).expect_err(bad);
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains("at most 988 characters"), "{error}");
        }
    }
}
