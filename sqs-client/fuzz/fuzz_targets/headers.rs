//! Headers, one a line: which protocol they speak and which answer they want.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::headers(data));
