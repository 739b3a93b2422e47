//! The constructs that programs use, through the name of the dependency: `aws_sdk_sqs`.

#[expect(dead_code, reason = "it only has to compile")]
mod program {
    include!("../../sqs-client/sdk/tests/it/programs/constructs.rs");
}

#[test]
fn constructs_compile() {
    assert!(!program::reads_the_version().is_empty());
}
