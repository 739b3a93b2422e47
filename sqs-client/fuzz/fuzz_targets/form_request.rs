//! Input: the letter of an action and a form request of the Query protocol.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::request(
    sqs_client::wire::protocol::Protocol::Query,
    data
));
