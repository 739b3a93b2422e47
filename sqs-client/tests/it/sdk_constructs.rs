//! What programs written for aws-sdk-sqs name compiles with `sqs_client::sdk` in its place.

#[expect(dead_code, reason = "compiling it is the test")]
mod with_aws_sdk {
    include!("sdk_programs/constructs.rs");
}

#[expect(dead_code, reason = "compiling it is the test")]
mod with_sqs_client {
    use sqs_client::sdk as aws_sdk_sqs;
    include!("sdk_programs/constructs.rs");
}

#[test]
fn constructs_were_compiled_against_both_crates() {
    assert_eq!(with_aws_sdk::reads_the_version(), aws_sdk_sqs::meta::PKG_VERSION);
    assert_eq!(with_sqs_client::reads_the_version(), sqs_client::sdk::meta::PKG_VERSION);
    assert_ne!(aws_sdk_sqs::meta::PKG_VERSION, sqs_client::sdk::meta::PKG_VERSION);
}

#[test]
fn shared_types_are_the_same_in_both_crates() {
    let region: aws_sdk_sqs::config::Region = sqs_client::sdk::config::Region::new("eu-west-1");
    let config = aws_sdk_sqs::Config::builder().region(region).build();
    assert_eq!(config.region(), Some(&sqs_client::sdk::config::Region::new("eu-west-1")));
}
