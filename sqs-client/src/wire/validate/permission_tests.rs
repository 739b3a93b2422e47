use super::*;
use crate::types::permission::AddPermissionInputBuilder;

fn add() -> AddPermissionInputBuilder {
    let input = AddPermissionInput::builder().queue_url("q").label("partner");
    input.aws_account_ids("123456789012").actions("SendMessage")
}

fn error_of(input: AddPermissionInputBuilder) -> (ErrorCode, String) {
    let error = input.build().expect("an input").validate().expect_err("an error");
    (error.code, error.message.unwrap_or_default())
}

#[test]
fn complete_permission_is_valid() {
    assert!(add().build().is_ok_and(|input| input.validate().is_ok()));
    assert!(add().actions("*").build().is_ok_and(|input| input.validate().is_ok()));
}

#[test]
fn more_than_seven_actions_are_over_the_limit() {
    let eight = add().set_actions(Some(vec!["SendMessage".to_owned(); 8]));
    let text = "8 Actions were found, maximum allowed is 7.";
    assert_eq!(error_of(eight), (ErrorCode::OverLimit, text.to_owned()));
}

#[test]
fn actions_reserved_for_the_owner_cannot_be_shared() {
    for action in ["DeleteQueue", "ListQueues", "sendMessage", "Dance", "SQS:SendMessage"] {
        let text = format!(
            "Value SQS:{action} for parameter ActionName is invalid. Reason: Only the queue owner is allowed to \
             invoke this action."
        );
        assert_eq!(error_of(add().actions(action)), (ErrorCode::InvalidParameterValue, text));
    }
}

#[test]
fn error_names_the_missing_parameter() {
    let table = [
        (add().set_label(None), "The request must contain the parameter Label."),
        (add().set_actions(None), "The request must contain the parameter Actions."),
        (add().set_aws_account_ids(None), "The request must contain the parameter AWSAccountIds."),
    ];
    for (input, text) in table {
        assert_eq!(error_of(input), (ErrorCode::MissingParameter, text.to_owned()));
    }
}

#[test]
fn malformed_labels_and_account_ids_are_rejected() {
    for label in ["a b", "ü", &"x".repeat(81)] {
        assert_eq!(error_of(add().label(label)).0, ErrorCode::InvalidParameterValue, "{label}");
    }
    for account in ["", "12345678901", "1234567890123", "12345678901x"] {
        assert_eq!(error_of(add().aws_account_ids(account)).0, ErrorCode::InvalidParameterValue, "{account}");
    }
}
