//! The constructs that programs use from aws-sdk-sqs also compile with `sqs_sdk`.

#[expect(dead_code, reason = "it only has to compile")]
mod with_aws_sdk {
    include!("programs/constructs.rs");
}

#[expect(dead_code, reason = "it only has to compile")]
mod with_sqs_client {
    use sqs_sdk as aws_sdk_sqs;
    include!("programs/constructs.rs");
}

#[test]
fn constructs_compile_against_both_crates() {
    assert_eq!(with_aws_sdk::reads_the_version(), aws_sdk_sqs::meta::PKG_VERSION);
    assert_eq!(with_sqs_client::reads_the_version(), sqs_sdk::meta::PKG_VERSION);
    assert_ne!(aws_sdk_sqs::meta::PKG_VERSION, sqs_sdk::meta::PKG_VERSION);
}

#[test]
fn shared_types_are_the_same_in_both_crates() {
    let region: aws_sdk_sqs::config::Region = sqs_sdk::config::Region::new("eu-west-1");
    let config = aws_sdk_sqs::Config::builder().region(region).build();
    assert_eq!(config.region(), Some(&sqs_sdk::config::Region::new("eu-west-1")));
}
