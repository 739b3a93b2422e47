//! Answers and refusals: what is decoded must be the same after a way through either protocol.

use serde_json::Value;
use sqs_client::operation::Operation;
use sqs_client::protocol::{Answer, EncodedResponse, Protocol, ResponseError};
use sqs_client::service_error::ServiceError;
use sqs_client::types::HasMetadata;

use crate::golden_tree::Tree;
use crate::memory::within_bounds;
use crate::message::{self, Task};
use crate::shapes::through_xml;

const REQUEST_ID: &str = "5cbf3a1e-66c6-4d0b-9a4b-8c1c8b1e8f0e";

/// Checks the HTTP answer (status line, headers, an empty line, the body) that follows the letter of an action.
///
/// # Panics
/// An answer does not survive.
pub fn answer(protocol: Protocol, data: &[u8]) {
    if let Some((action, recorded)) = message::action(data) {
        message::run(action, Recorded { protocol, recorded });
    }
}

struct Recorded<'a> {
    protocol: Protocol,
    recorded: &'a [u8],
}

impl Task for Recorded<'_> {
    fn run<O: Operation>(self) {
        let (mut head, body) = message::head_and_body(self.recorded);
        let status_line = String::from_utf8_lossy(head.next().unwrap_or_default());
        let status = status_line.split(' ').find_map(|word| word.parse().ok()).unwrap_or(200);
        let headers = message::header_map(head);
        let decoded =
            within_bounds(self.recorded, || self.protocol.decode_response::<O>(status, &headers, body));
        match decoded {
            Ok(output) => output_survives::<O>(&output),
            Err(ResponseError::Service { error, .. }) => refusal_survives::<O>(&error),
            Err(ResponseError::Unreadable { error, .. }) => {
                assert!(error.to_string().len() <= 2_000, "{error}");
            }
        }
    }
}

fn output_survives<O: Operation>(output: &O::Output) {
    for (protocol, mut arrives) in
        [(Protocol::AwsJson, output.clone()), (Protocol::Query, through_xml::<O>(output))]
    {
        arrives.metadata_mut().request_id = Some(REQUEST_ID.to_owned());
        if protocol == Protocol::AwsJson && O::ACTION.is_void() {
            assert_eq!(arrives, with_id_alone::<O>());
        }
        let EncodedResponse { status, headers, body } =
            protocol.encode_response::<O>(output, REQUEST_ID).expect("a shape can be encoded");
        let text = String::from_utf8_lossy(&body);
        let decoded = protocol
            .decode_response::<O>(status, &headers, &body)
            .unwrap_or_else(|error| panic!("{error:?}: {text}"));
        assert_eq!(decoded, arrives, "{text}");
    }
    texts_are_those_of_the_xml::<O>(output);
}

fn with_id_alone<O: Operation>() -> O::Output {
    let mut output = O::Output::default();
    output.metadata_mut().request_id = Some(REQUEST_ID.to_owned());
    output
}

/// The JSON of the Query protocol has no decoder here, but it must say what the XML says.
fn texts_are_those_of_the_xml<O: Operation>(output: &O::Output) {
    let encode = |answer| {
        Protocol::Query
            .encode_response_as::<O>(answer, output, REQUEST_ID)
            .expect("a shape can be encoded")
            .body
    };
    let (mut in_json, mut in_xml) = (Vec::new(), Vec::new());
    json_texts(&serde_json::from_slice(&encode(Answer::Json)).expect("JSON"), &mut in_json);
    for (_, response) in Tree::of_xml(&encode(Answer::Xml)).members {
        // The text of the response itself is its namespace.
        response.members.into_iter().for_each(|(_, element)| xml_texts(element, &mut in_xml));
    }
    in_json.sort_unstable();
    in_xml.sort_unstable();
    assert_eq!(in_json, in_xml);
}

fn json_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|member| json_texts(member, texts)),
        Value::Array(elements) => elements.iter().for_each(|element| json_texts(element, texts)),
        Value::String(text) if !text.is_empty() => texts.push(text.clone()),
        Value::String(_) => {}
        other => panic!("a leaf is no text: {other}"),
    }
}

fn xml_texts(element: Tree, texts: &mut Vec<String>) {
    if !element.text.is_empty() {
        texts.push(element.text);
    }
    element.members.into_iter().for_each(|(_, member)| xml_texts(member, texts));
}

fn refusal_survives<O: Operation>(refusal: &ServiceError) {
    let code = refusal.code.query_code();
    assert!(!code.is_empty());
    // Other codes than these cannot be written in `x-amzn-query-error`; a refusal they still must be.
    let plain = code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    for protocol in [Protocol::AwsJson, Protocol::Query] {
        let EncodedResponse { status, headers, body } = protocol.encode_error(refusal, REQUEST_ID);
        let text = String::from_utf8_lossy(&body);
        match protocol.decode_response::<O>(status, &headers, &body) {
            Err(ResponseError::Service { error, request_id }) => {
                assert_eq!(request_id.as_deref(), Some(REQUEST_ID));
                assert_eq!(error.message, refusal.message, "{text}");
                assert!(!plain || error.code == refusal.code, "{refusal:?} arrives as {error:?}: {text}");
            }
            other => panic!("{refusal:?} arrives as {other:?}: {text}"),
        }
    }
}
