//! Decoders reject damaged bytes and never panic.

use http::HeaderMap;
use sqs_client::operation::Operation;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::receive_message::ReceiveMessage;
use sqs_client::wire::protocol::{DecodeError, Form, Protocol, ResponseError};

use crate::golden::file;
use crate::shapes::for_each_operation;

pub(crate) fn response<O: Operation>(protocol: Protocol, body: &[u8]) -> Result<O::Output, ResponseError> {
    protocol.decode_response::<O>(200, &HeaderMap::new(), body)
}

fn request<O: Operation>(protocol: Protocol, body: &[u8]) -> Result<O::Input, DecodeError> {
    protocol.decode_request(body)
}

/// All proper prefixes of the text.
fn prefixes(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..text.len()).map(|end| &text[..end])
}

/// The text with each byte replaced by each of several syntax characters.
fn with_one_byte_changed(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let bytes = [b'"', b'<', b'&', b'{', b']', b'%', b'.', b'1', 0x00, 0xc3, 0xff];
    let places = (0..text.len()).flat_map(move |at| bytes.map(|byte| (at, byte)));
    places.map(|(at, byte)| {
        let mut changed = text.to_vec();
        changed[at] = byte;
        changed
    })
}

fn check_truncated<O: Operation>() {
    for prefix in prefixes(&file::<O>("request.json")) {
        // An empty body means `{}`.
        assert_eq!(request::<O>(Protocol::AwsJson, prefix).is_ok(), prefix.is_empty());
    }
    for prefix in prefixes(&file::<O>("response.json")) {
        assert!(response::<O>(Protocol::AwsJson, prefix).is_err());
    }
    for prefix in prefixes(&file::<O>("response.xml")) {
        assert!(response::<O>(Protocol::Query, prefix).is_err());
    }
    // A form has no end mark, so only the HTTP layer can detect truncation.
    for prefix in prefixes(&file::<O>("request.query")) {
        let _ = request::<O>(Protocol::Query, prefix);
    }
}

fn check_changed_bytes<O: Operation>() {
    for changed in with_one_byte_changed(&file::<O>("request.json")) {
        let _ = request::<O>(Protocol::AwsJson, &changed);
    }
    for changed in with_one_byte_changed(&file::<O>("request.query")) {
        let _ = request::<O>(Protocol::Query, &changed);
    }
    for (protocol, name) in [(Protocol::AwsJson, "response.json"), (Protocol::Query, "response.xml")] {
        for changed in with_one_byte_changed(&file::<O>(name)) {
            let _ = response::<O>(protocol, &changed);
            let _ = protocol.decode_response::<O>(500, &HeaderMap::new(), &changed);
        }
    }
}

macro_rules! damage {
    ($($module:ident $op:ident,)*) => { $(
        mod $module {
            use sqs_client::operation::$module::$op;

            #[test]
            fn message_truncated_at_any_byte_is_rejected() {
                super::check_truncated::<$op>();
            }

            #[test]
            fn message_with_any_byte_changed_does_not_panic() {
                super::check_changed_bytes::<$op>();
            }
        }
    )* };
}

for_each_operation!(damage);

/// Bodies that are neither responses nor requests of SQS.
const GARBAGE: [&[u8]; 14] = [
    b" \r\n\t",
    b"\0\0\0\0",
    b"\xff\xfe{\0}\0",
    b"\xc3\x28",
    b"null",
    b"true",
    b"42",
    b"\"text\"",
    b"[]",
    b"[{}]",
    b"{} {}",
    b"<!DOCTYPE html><html><body><h1>503 Service Unavailable</h1><br></body></html>",
    b"<html><body>No server is available to handle this request.</body></html>",
    b"upstream connect error or disconnect/reset before headers. reset reason: connection failure",
];

#[test]
fn garbage_responses_are_unreadable() {
    for garbage in GARBAGE {
        for protocol in [Protocol::AwsJson, Protocol::Query] {
            for status in [200, 302, 400, 404, 502, 503] {
                let outcome = protocol.decode_response::<ReceiveMessage>(status, &HeaderMap::new(), garbage);
                assert!(matches!(outcome, Err(ResponseError::Unreadable { .. })), "{garbage:?} {outcome:?}");
            }
        }
    }
}

#[test]
fn xml_error_with_empty_code_is_unreadable() {
    for xml in ["<Code/>", "<Code></Code>", "<Code> </Code>", ""] {
        let body = format!("<ErrorResponse><Error>{xml}<Message>m</Message></Error></ErrorResponse>");
        let outcome =
            Protocol::Query.decode_response::<ReceiveMessage>(400, &HeaderMap::new(), body.as_bytes());
        assert!(matches!(outcome, Err(ResponseError::Unreadable { .. })), "{xml} {outcome:?}");
    }
}

#[test]
fn json_request_that_is_not_an_object_is_rejected() {
    for garbage in GARBAGE {
        assert!(request::<ReceiveMessage>(Protocol::AwsJson, garbage).is_err(), "{garbage:?}");
    }
}

#[test]
fn response_shorter_than_content_length_is_rejected() {
    let headers = HeaderMap::from_iter([(http::header::CONTENT_LENGTH, "3".parse().unwrap())]);
    for protocol in [Protocol::AwsJson, Protocol::Query] {
        assert!(protocol.decode_response::<ReceiveMessage>(200, &headers, b"{}").is_err());
        assert!(protocol.decode_response::<DeleteMessage>(200, &headers, b"").is_err());
    }
    assert!(Protocol::AwsJson.decode_response::<ReceiveMessage>(200, &headers, b"{} ").is_ok());
}

#[test]
fn proxy_page_is_not_a_response_of_an_action_without_output() {
    assert!(response::<DeleteMessage>(Protocol::AwsJson, b"").is_ok());
    assert!(response::<DeleteMessage>(Protocol::AwsJson, b"{}").is_ok());
    assert!(
        response::<DeleteMessage>(Protocol::AwsJson, b" <html><body>Please log in</body></html>").is_err()
    );
    assert!(response::<DeleteMessage>(Protocol::Query, b"<html><body>Please log in</body></html>").is_err());
    assert!(response::<DeleteMessage>(Protocol::Query, b"").is_err());
}

#[test]
fn xml_response_of_another_action_is_rejected() {
    assert!(response::<ReceiveMessage>(Protocol::Query, &file::<DeleteMessage>("response.xml")).is_err());
}

#[test]
fn decode_errors_quote_at_most_a_short_excerpt() {
    let long = "9".repeat(1 << 20);
    let by_json = request::<ReceiveMessage>(
        Protocol::AwsJson,
        format!("{{\"VisibilityTimeout\":\"{long}\"}}").as_bytes(),
    );
    let by_form = Form::parse(format!("VisibilityTimeout={long}").as_bytes())
        .unwrap()
        .read::<<ReceiveMessage as Operation>::Input>();
    for outcome in [by_json, by_form] {
        assert!(outcome.unwrap_err().to_string().len() < 1_000);
    }
}
