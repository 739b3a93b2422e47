//! Headers: the protocol of a request and the form of its answer.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use sqs_client::protocol::{Answer, Detected};

use crate::message::header_map;

/// Checks the headers of these lines.
///
/// # Panics
/// What is detected is not what the headers say.
pub fn headers(data: &[u8]) {
    let headers = header_map(data.split(|byte| *byte == b'\n'));
    protocol(&headers);
    form(&headers);
}

fn protocol(headers: &HeaderMap) {
    let target = headers.get("x-amz-target").map(|target| String::from_utf8_lossy(target.as_bytes()));
    match (Detected::from_headers(headers), target) {
        (Detected::AwsJson(Ok(action)), Some(target)) => assert_eq!(target, format!("AmazonSQS.{action}")),
        (Detected::AwsJson(Err(unknown)), Some(target)) => assert_eq!(target, unknown),
        (Detected::AwsJson(Err(unknown)), None) => {
            let media = headers[CONTENT_TYPE].to_str().expect("text").to_ascii_lowercase();
            assert!(unknown.is_empty() && media.contains("application/x-amz-json-"), "{media}");
        }
        (Detected::Query, None) => {}
        (detected, target) => panic!("{detected:?} of the target {target:?}"),
    }
}

fn form(headers: &HeaderMap) {
    let chosen = Answer::from_headers(headers);
    let values: Vec<&HeaderValue> = headers.get_all(ACCEPT).iter().collect();
    let wildcard = HeaderValue::from_static("*/*;q=1");
    let other_order = values.iter().rev().copied().chain([&wildcard]);
    let other_order: HeaderMap = {
        let mut headers = HeaderMap::new();
        for value in other_order {
            headers.append(ACCEPT, value.clone());
        }
        headers
    };
    assert_eq!(Answer::from_headers(&other_order), chosen, "{values:?}");
    let names_json = |value: &&HeaderValue| {
        value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("application/json"))
    };
    assert!(chosen == Answer::Xml || values.iter().any(names_json), "{values:?}");
}
