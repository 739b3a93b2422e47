//! The letter of an action, then an HTTP answer in XML.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::answer(
    sqs_client::protocol::Protocol::Query,
    data
));
