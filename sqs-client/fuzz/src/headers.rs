//! Headers: detection of the protocol of a request.

use http::header::CONTENT_TYPE;
use sqs_client::wire::protocol::Detected;

use crate::message::header_map;

/// Checks the protocol that is detected from headers, one per line.
///
/// # Panics
/// The detected protocol or action does not match the headers.
pub fn headers(data: &[u8]) {
    let headers = header_map(data.split(|byte| *byte == b'\n'));
    let target = headers.get("x-amz-target").map(|target| String::from_utf8_lossy(target.as_bytes()));
    match (Detected::from_headers(&headers), target) {
        (Detected::AwsJson(Ok(action)), Some(target)) => assert_eq!(target, format!("AmazonSQS.{action}")),
        (Detected::AwsJson(Err(unknown)), Some(target)) => assert_eq!(target, unknown),
        (Detected::AwsJson(Err(unknown)), None) => {
            let media = headers[CONTENT_TYPE].to_str().expect("text").to_ascii_lowercase();
            assert!(unknown.is_empty() && media.contains("application/x-amz-json-"), "{media}");
        }
        (Detected::Query, None) => {}
        (detected, target) => panic!("{detected:?} from the target {target:?}"),
    }
}
