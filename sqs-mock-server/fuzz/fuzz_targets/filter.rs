//! Input: a filter policy, and the body of a message in the next line. In both scopes, neither panics, and the spelling
//! of the JSON does not change whether the message matches.
//!
//! `cargo +nightly fuzz run filter -- -max_len=4096 -timeout=10`
#![no_main]

// Only these modules: the server does not export them.
#[path = "../../src/sns/filter/mod.rs"]
#[expect(dead_code, reason = "the server uses more of it")]
mod filter;
mod sns {
    pub(crate) use super::filter;
}

use std::collections::HashMap;

use filter::{FilterInput, FilterPolicy, FilterScope};
use serde_json::Value;
use sqs_client::types::MessageAttributeValue;

libfuzzer_sys::fuzz_target!(|data: &str| {
    let (policy, body) = data.split_once('\n').unwrap_or((data, ""));
    for scope in [FilterScope::MessageAttributes, FilterScope::MessageBody] {
        let Ok(parsed) = FilterPolicy::parse(policy, scope) else { continue };
        let attributes = attributes(body);
        let matches = parsed.matches(&FilterInput::new(body, &attributes));
        let policy = FilterPolicy::parse(&compact(policy), scope).expect("the same policy is valid");
        assert_eq!(policy.matches(&FilterInput::new(&compact(body), &attributes)), matches);
    }
});

/// The JSON without blanks and duplicate keys.
fn compact(text: &str) -> String {
    serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
}

/// Each top-level value of the body as an attribute: strings, numbers, and everything else as arrays.
fn attributes(body: &str) -> HashMap<String, MessageAttributeValue> {
    let Ok(Value::Object(body)) = serde_json::from_str(body) else { return HashMap::new() };
    let attribute = |value: Value| match value {
        Value::String(text) => MessageAttributeValue::string(text),
        Value::Number(number) => MessageAttributeValue::number(number),
        other => {
            let array =
                MessageAttributeValue::builder().data_type("String.Array").string_value(other.to_string());
            array.build().expect("a data type")
        }
    };
    body.into_iter().map(|(name, value)| (name, attribute(value))).collect()
}
