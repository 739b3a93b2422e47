use super::*;
use crate::types::permission::AddPermissionInputBuilder;

fn add() -> AddPermissionInputBuilder {
    let input = AddPermissionInput::builder().queue_url("q").label("partner");
    input.aws_account_ids("123456789012").actions("SendMessage")
}

fn refusal(input: AddPermissionInputBuilder) -> (ErrorCode, String) {
    let error = input.build().expect("an input").validate().expect_err("a refusal");
    (error.code, error.message.unwrap_or_default())
}

#[test]
fn complete_permission_passes() {
    assert!(add().build().is_ok_and(|input| input.validate().is_ok()));
    assert!(add().actions("*").build().is_ok_and(|input| input.validate().is_ok()));
}

#[test]
fn eighth_action_is_over_the_limit() {
    let eight = add().set_actions(Some(vec!["SendMessage".to_owned(); 8]));
    let text = "8 Actions were found, maximum allowed is 7.";
    assert_eq!(refusal(eight), (ErrorCode::OverLimit, text.to_owned()));
}

#[test]
fn actions_of_the_owner_cannot_be_given_away() {
    for action in ["DeleteQueue", "ListQueues", "sendMessage", "Dance", "SQS:SendMessage"] {
        let text = format!(
            "Value SQS:{action} for parameter ActionName is invalid. Reason: Only the queue owner is allowed to \
             invoke this action."
        );
        assert_eq!(refusal(add().actions(action)), (ErrorCode::InvalidParameterValue, text));
    }
}

#[test]
fn missing_parts_are_named() {
    let table = [
        (add().set_label(None), "The request must contain the parameter Label."),
        (add().set_actions(None), "The request must contain the parameter Actions."),
        (add().set_aws_account_ids(None), "The request must contain the parameter AWSAccountIds."),
    ];
    for (input, text) in table {
        assert_eq!(refusal(input), (ErrorCode::MissingParameter, text.to_owned()));
    }
}

#[test]
fn labels_and_accounts_have_a_form() {
    for label in ["a b", "ü", &"x".repeat(81)] {
        assert_eq!(refusal(add().label(label)).0, ErrorCode::InvalidParameterValue, "{label}");
    }
    for account in ["", "12345678901", "1234567890123", "12345678901x"] {
        assert_eq!(refusal(add().aws_account_ids(account)).0, ErrorCode::InvalidParameterValue, "{account}");
    }
}
