use super::*;
use crate::wire::service_error::ErrorCode;

fn tag(key: &str, value: &str) -> Result<(), ServiceError> {
    tags(&HashMap::from([(key.to_owned(), value.to_owned())]))
}

#[test]
fn keys_and_values_of_invalid_length_are_rejected() {
    for (key, value) in [("k", ""), (&*"ü".repeat(128), &*"ü".repeat(256)), ("awsome", "x")] {
        assert_eq!(tag(key, value), Ok(()), "{key}");
    }
    for (key, value) in
        [("", "x"), (&*"k".repeat(129), "x"), ("k", &*"v".repeat(257)), ("aws:k", "x"), ("AWS:k", "x")]
    {
        assert_eq!(tag(key, value).expect_err(key).code, ErrorCode::InvalidParameterValue, "{key}");
    }
}

#[test]
fn tag_and_untag_without_tags_are_missing_parameters() {
    let input = TagQueueInput::builder().queue_url("q").build().expect("an input");
    assert_eq!(input.validate().expect_err("nothing").code, ErrorCode::MissingParameter);
    let input = UntagQueueInput::builder().queue_url("q").build().expect("an input");
    assert_eq!(input.validate().expect_err("nothing").code, ErrorCode::MissingParameter);
}
