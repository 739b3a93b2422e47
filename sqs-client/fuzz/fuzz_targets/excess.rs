//! Input: the letter of an action, the number of a decoder, and repeated pieces of a long body.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::excess(data));
