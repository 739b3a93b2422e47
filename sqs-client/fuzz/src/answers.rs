//! Responses: a decoded output or error must not change when encoded and decoded again, in either protocol.

use sqs_client::operation::Operation;
use sqs_client::wire::protocol::{EncodedResponse, Protocol, ResponseError};
use sqs_client::wire::service_error::ServiceError;
use sqs_client::types::HasMetadata;

use crate::golden_tree::Tree;
use crate::memory::within_bounds;
use crate::message::{self, Task};
use crate::shapes::through_xml;

const REQUEST_ID: &str = "5cbf3a1e-66c6-4d0b-9a4b-8c1c8b1e8f0e";

/// Checks an HTTP response. The input is the letter of an action, a status line, headers, an empty line and the body.
///
/// # Panics
/// The output or error changes.
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
            Ok(output) => check_output::<O>(&output),
            Err(ResponseError::Service { error, .. }) => check_error::<O>(&error),
            Err(ResponseError::Unreadable { error, .. }) => {
                assert!(error.to_string().len() <= 2_000, "{error}");
            }
        }
    }
}

fn check_output<O: Operation>(output: &O::Output) {
    for (protocol, mut expected) in
        [(Protocol::AwsJson, output.clone()), (Protocol::Query, through_xml::<O>(output))]
    {
        expected.metadata_mut().request_id = Some(REQUEST_ID.to_owned());
        if protocol == Protocol::AwsJson && O::ACTION.is_void() {
            assert_eq!(expected, empty_output_with_id::<O>());
        }
        let EncodedResponse { status, headers, body } =
            protocol.encode_response::<O>(output, REQUEST_ID).expect("all shapes can be encoded");
        let text = String::from_utf8_lossy(&body);
        let decoded = protocol
            .decode_response::<O>(status, &headers, &body)
            .unwrap_or_else(|error| panic!("{error:?}: {text}"));
        assert_eq!(decoded, expected, "{text}");
        if protocol == Protocol::Query {
            // Panics unless the parser of the tests accepts the XML.
            let _ = Tree::of_xml(&body);
        }
    }
}

fn empty_output_with_id<O: Operation>() -> O::Output {
    let mut output = O::Output::default();
    output.metadata_mut().request_id = Some(REQUEST_ID.to_owned());
    output
}

fn check_error<O: Operation>(expected: &ServiceError) {
    let code = expected.code.query_code();
    assert!(!code.is_empty());
    // A header cannot contain other codes. The response must still decode as a service error.
    let fits_in_header = code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    for protocol in [Protocol::AwsJson, Protocol::Query] {
        let EncodedResponse { status, headers, body } = protocol.encode_error(expected, REQUEST_ID);
        let text = String::from_utf8_lossy(&body);
        match protocol.decode_response::<O>(status, &headers, &body) {
            Err(ResponseError::Service { error, request_id }) => {
                assert_eq!(request_id.as_deref(), Some(REQUEST_ID));
                assert_eq!(error.message, expected.message, "{text}");
                assert!(
                    !fits_in_header || error.code == expected.code,
                    "{expected:?} decodes as {error:?}: {text}"
                );
            }
            other => panic!("{expected:?} decodes as {other:?}: {text}"),
        }
    }
}
