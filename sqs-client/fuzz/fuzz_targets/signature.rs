//! An HTTP request, which is verified as it is, and signed and verified.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sqs_client_fuzz::signature(data));
