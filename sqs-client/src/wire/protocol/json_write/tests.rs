use std::collections::HashMap;

use proptest::prelude::*;

use super::write;
use crate::operation::send_message_batch::SendMessageBatchInput;
use crate::types::{MessageAttributeValue, SendMessageBatchRequestEntry};

fn written(shape: &impl serde::Serialize) -> String {
    let mut json = Vec::new();
    write(shape, &mut json).expect("a shape");
    String::from_utf8(json).expect("text")
}

#[test]
fn each_character_is_written_as_by_serde_json_at_any_position() {
    let characters = (0..=0x17f).chain([0x2028, 0x2029, 0xfffd, 0x1f600]).filter_map(char::from_u32);
    for character in characters {
        for before in [0, 1, 62, 63, 64, 127] {
            let text = format!("{}{character}{character}b", "a".repeat(before));
            assert_eq!(written(&text), serde_json::to_string(&text).unwrap(), "{character:?} at {before}");
        }
    }
}

proptest! {
    #[test]
    fn shapes_are_written_as_by_serde_json(
        bodies in proptest::collection::vec("[ -~\\n\\t\"\\\\é]{0,200}", 0..4),
        delay in proptest::option::of(any::<i32>()),
        name in ".{0,80}",
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let entry = |body: String| {
            let value = MessageAttributeValue::binary(bytes.clone());
            SendMessageBatchRequestEntry {
                message_body: body,
                delay_seconds: delay,
                message_attributes: Some(HashMap::from([(name.clone(), value)])),
                ..Default::default()
            }
        };
        let entries = bodies.into_iter().map(entry).collect();
        let input = SendMessageBatchInput { entries: Some(entries), ..Default::default() };
        prop_assert_eq!(written(&input), serde_json::to_string(&input).unwrap());
    }
}
