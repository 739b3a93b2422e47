//! The letter of an action, the number of a decoder, then pieces of a long body, each with how often it comes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::excess(data));
