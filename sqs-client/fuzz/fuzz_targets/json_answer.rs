//! Input: the letter of an action and an HTTP response in AWS JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::answer(
    sqs_client::wire::protocol::Protocol::AwsJson,
    data
));
