//! Recorded messages of all operations in both protocols, in `tests/golden/<Action>/`.

use http::HeaderMap;
use serde_json::Value;
use sqs_client::operation::Operation;
use sqs_client::types::RequestId;
use sqs_client::wire::protocol::{Form, Protocol};

use crate::golden_tree::Tree;
use crate::shapes::{for_each_operation, through_form};

const REQUEST_ID: &str = "b25f48e8-84fd-11e6-80d9-574e0c664fcb";

/// Reads a file from the folder of an operation.
pub(crate) fn file<O: Operation>(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/golden/{}/{name}", env!("CARGO_MANIFEST_DIR"), O::ACTION);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn check_request<O: Operation>() {
    let (json_file, form_file) = (file::<O>("request.json"), file::<O>("request.query"));
    let input: O::Input = Protocol::AwsJson.decode_request(&json_file).unwrap();
    let by_form: O::Input = Protocol::Query.decode_request(&form_file).unwrap();
    assert_eq!(through_form::<O>(&input), by_form);
    assert_ne!(input, O::Input::default());
    assert_eq!(Form::parse(&form_file).unwrap().action(), Some(Ok(O::ACTION)));

    let encoded = Protocol::AwsJson.encode_request(&input).unwrap();
    assert_eq!(json(&encoded.body), json(&json_file));
    assert_eq!(encoded.headers["content-type"], "application/x-amz-json-1.0");
    assert_eq!(encoded.headers["x-amz-target"], format!("AmazonSQS.{}", O::ACTION));
    assert_eq!(encoded.headers["x-amzn-query-mode"], "true");

    let encoded = Protocol::Query.encode_request(&input).unwrap();
    assert_eq!(Tree::of_form(&encoded.body), Tree::of_form(&form_file));
    assert_eq!(encoded.headers["content-type"], "application/x-www-form-urlencoded; charset=utf-8");
    assert_eq!(encoded.headers.len(), 1);
}

fn check_response<O: Operation>() {
    let (json_file, xml_file) = (file::<O>("response.json"), file::<O>("response.xml"));
    let headers = HeaderMap::from_iter([("x-amzn-requestid".parse().unwrap(), REQUEST_ID.parse().unwrap())]);
    let output = Protocol::AwsJson.decode_response::<O>(200, &headers, &json_file).unwrap();
    let by_xml = Protocol::Query.decode_response::<O>(200, &HeaderMap::new(), &xml_file).unwrap();
    assert_eq!(output, by_xml);
    assert_eq!(output.request_id(), Some(REQUEST_ID));

    let encoded = Protocol::AwsJson.encode_response::<O>(&output, REQUEST_ID).unwrap();
    if O::ACTION.is_void() {
        assert!(json_file.is_empty());
        assert!(encoded.body.is_empty());
    } else {
        assert_eq!(json(&encoded.body), json(&json_file));
        assert_ne!(json(&encoded.body), json(b"{}"));
    }
    assert_eq!(encoded.status, 200);
    assert_eq!(encoded.headers["content-type"], "application/x-amz-json-1.0");
    assert_eq!(encoded.headers["x-amzn-requestid"], REQUEST_ID);

    let encoded = Protocol::Query.encode_response::<O>(&output, REQUEST_ID).unwrap();
    assert_eq!(Tree::of_xml(&encoded.body), Tree::of_xml(&xml_file));
    assert_eq!(encoded.status, 200);
    assert_eq!(encoded.headers["content-type"], "text/xml");
}

macro_rules! golden_folders {
    ($($module:ident $op:ident,)*) => { $(
        mod $module {
            use sqs_client::operation::$module::$op;

            #[test]
            fn recorded_requests_encode_and_decode() {
                super::check_request::<$op>();
            }

            #[test]
            fn recorded_responses_encode_and_decode() {
                super::check_response::<$op>();
            }
        }
    )* };
}

for_each_operation!(golden_folders);
