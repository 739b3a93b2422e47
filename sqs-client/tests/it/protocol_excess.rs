//! Deep, long and numerous content: limits and linear parsers bound time and memory.

use http::HeaderMap;
use sqs_client::operation::Operation;
use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::operation::send_message::{SendMessage, SendMessageInput};
use sqs_client::wire::protocol::{Form, Protocol};

use crate::protocol_damage::response;

const DEPTH: usize = 100_000;
const MEBIBYTE: usize = 1 << 20;

fn in_result(inner: &str) -> String {
    format!(
        "<ReceiveMessageResponse><ReceiveMessageResult>{inner}</ReceiveMessageResult></ReceiveMessageResponse>"
    )
}

fn receive(xml: &str) -> Option<ReceiveMessageOutput> {
    response::<ReceiveMessage>(Protocol::Query, in_result(xml).as_bytes()).ok()
}

#[test]
fn deep_json_is_rejected_in_a_known_member_and_skipped_in_an_unknown_one() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
        for member in ["Messages", "Unknown"] {
            let body = format!("{{\"{member}\":{deep}}}");
            let outcome = response::<ReceiveMessage>(Protocol::AwsJson, body.as_bytes());
            assert_eq!(outcome.is_ok(), member == "Unknown");
            // An error body without a code is unreadable at any depth.
            assert!(
                Protocol::AwsJson
                    .decode_response::<ReceiveMessage>(400, &HeaderMap::new(), body.as_bytes())
                    .is_err()
            );
        }
        assert!(response::<ReceiveMessage>(Protocol::AwsJson, open.repeat(DEPTH).as_bytes()).is_err());
    }
}

#[test]
fn deep_xml_is_rejected() {
    assert!(receive(&"<a>".repeat(DEPTH)).is_none());
    assert!(receive(&format!("{}{}", "<a>".repeat(DEPTH), "</a>".repeat(DEPTH))).is_none());
    assert!(receive(&format!("{}{}", "<a>".repeat(20), "</a>".repeat(20))).is_some());
}

#[test]
fn form_with_too_many_parameters_is_rejected() {
    let many = |count: usize| (0..count).map(|n| format!("X.{n}=1")).collect::<Vec<_>>().join("&");
    assert!(Form::parse(many(10_000).as_bytes()).is_ok());
    assert!(Form::parse(many(100_000).as_bytes()).is_err());
    // Empty pairs are not parameters.
    assert!(Form::parse("&".repeat(100_000).as_bytes()).is_ok());
}

#[test]
fn form_parameter_with_too_many_levels_is_rejected() {
    assert!(Form::parse(format!("X{}=1", ".1".repeat(10_000)).as_bytes()).is_err());
    assert!(Form::parse(format!("{}=1", ".".repeat(10_000)).as_bytes()).is_err());
    assert!(Form::parse(b"A.1.B.1.C.1.D=1").is_ok());
}

#[test]
fn body_of_ten_mebibytes_is_decoded() {
    for filler in ["x", "é", "&<\"\r"] {
        let input = SendMessageInput::builder()
            .message_body(filler.repeat(10 * MEBIBYTE / filler.len()))
            .build()
            .unwrap();
        for protocol in [Protocol::AwsJson, Protocol::Query] {
            let body = protocol.encode_request(&input).unwrap().body;
            assert!(protocol.decode_request::<SendMessageInput>(&body).unwrap() == input);
        }
    }
}

#[test]
fn text_with_half_a_million_character_references_is_decoded() {
    let message = receive(&format!("<Message><Body>{}</Body></Message>", "&amp;&#xD;".repeat(1 << 18)));
    let body = message.unwrap().messages.unwrap().remove(0).body.unwrap();
    assert!(body == "&\r".repeat(1 << 18));
}

#[test]
fn many_xml_elements_are_decoded_and_too_many_rejected() {
    let count = 16_000;
    let messages = receive(&"<Message/>".repeat(count)).unwrap().messages.unwrap();
    assert_eq!(messages.len(), count);
    let entry = |n| format!("<MessageAttribute><Name>n{n}</Name><Value/></MessageAttribute>");
    let entries: String = (0..count).map(entry).collect();
    let mut messages = receive(&format!("<Message>{entries}</Message>")).unwrap().messages.unwrap();
    assert_eq!(messages.remove(0).message_attributes.unwrap().len(), count);
    assert!(receive(&"<a/>".repeat(100_000)).is_none());
    assert!(receive(&"<a><b/></a>".repeat(50_000)).is_none());
}

#[test]
fn mebibyte_of_repeated_syntax_characters_is_rejected() {
    for filler in
        ["<", "<a ", "&", "&amp;", "{", "[", "\"", "\\", "%", ".", "+", " ", "]]>", "<!--", "<![CDATA["]
    {
        let body = filler.repeat(MEBIBYTE / filler.len());
        assert!(response::<SendMessage>(Protocol::AwsJson, body.as_bytes()).is_err(), "{filler}");
        assert!(response::<SendMessage>(Protocol::Query, body.as_bytes()).is_err(), "{filler}");
        assert!(
            response::<SendMessage>(Protocol::AwsJson, format!("{{\"MessageId\":{body}").as_bytes()).is_err(),
            "{filler}"
        );
        let _ = Form::parse(body.as_bytes());
    }
}

#[test]
fn form_list_numbers_only_define_the_order() {
    let names = |form: &str| -> Option<Vec<String>> {
        let input: ReceiveMessageInput = Form::parse(form.as_bytes()).unwrap().read().ok()?;
        input.message_attribute_names
    };
    let list = |items: &[&str]| Some(items.iter().map(|&item| item.to_owned()).collect::<Vec<_>>());
    let prefix = "MessageAttributeName";
    // Sparse, unordered, zero, leading zeros and up to 64 bits.
    assert_eq!(
        names(&format!("{prefix}.7=c&{prefix}.18446744073709551615=d&{prefix}.0=a&{prefix}.02=b")),
        list(&["a", "b", "c", "d"])
    );
    assert_eq!(names(&format!("{prefix}.10=b&{prefix}.9=a")), list(&["a", "b"]));
    // The last parameter with the same name wins.
    assert_eq!(names(&format!("{prefix}.1=a&{prefix}.1=b")), list(&["b"]));
    // Names that are not numbers are ignored. A list with no number is malformed.
    assert_eq!(names(&format!("{prefix}.1=a&{prefix}.x=b&{prefix}.-1=c")), list(&["a"]));
    for name in ["x", "-1", "1.2", "", "99999999999999999999", "1.", "1.member"] {
        assert_eq!(names(&format!("{prefix}.{name}=a")), None, "{name}");
    }
}

#[test]
fn largest_valid_request_round_trips() {
    use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};
    use sqs_client::types::{MessageAttributeValue, SendMessageBatchRequestEntry};

    let entry = |id: usize| {
        let builder = SendMessageBatchRequestEntry::builder().id(id.to_string()).message_body("body");
        let value = |n| MessageAttributeValue::number(n);
        (0..10)
            .fold(builder, |entry, n| entry.message_attributes(format!("name{n}"), value(n)))
            .build()
            .unwrap()
    };
    let input =
        SendMessageBatchInput::builder().set_entries(Some((0..10).map(entry).collect())).build().unwrap();
    let body = Protocol::Query.encode_request(&input).unwrap().body;
    let decoded: <SendMessageBatch as Operation>::Input = Protocol::Query.decode_request(&body).unwrap();
    assert_eq!(decoded, input);
}
