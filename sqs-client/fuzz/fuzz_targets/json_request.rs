//! The letter of an action, then a request in AWS JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::request(
    sqs_client::protocol::Protocol::AwsJson,
    data
));
