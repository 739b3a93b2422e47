//! Section 7: `GetCallerIdentity` of STS.

use super::*;

const CALL: &[u8] = b"Action=GetCallerIdentity&Version=2011-06-15";

#[tokio::test]
async fn caller_is_the_root_user_of_its_account() {
    let mut sns = Sns::start().await;
    for (key, account) in [("test", ACCOUNT), ("123456789012", "123456789012")] {
        let headers = format!("{FORM}{}", scope("sts", "us-east-1").replace("test/", &format!("{key}/")));
        let answer = sns.wire.exchange("POST /", &headers, CALL).await;
        let expected = format!(
            "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult>\
             <Arn>arn:aws:iam::{account}:root</Arn><UserId>{account}</UserId><Account>{account}</Account>\
             </GetCallerIdentityResult><ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata>\
             </GetCallerIdentityResponse>",
            answer.value("RequestId")
        );
        assert_eq!((answer.status, answer.text()), (200, &*expected));
    }
    let unsigned = sns.wire.get("/?Action=GetCallerIdentity&Version=2011-06-15").await;
    assert_eq!(unsigned.value("Account"), ACCOUNT);
}

#[tokio::test]
async fn unknown_access_key_is_refused_when_signatures_are_required() {
    let mut sns = Sns::with(MockSqs::builder().require_signatures([("AKID", "secret")])).await;
    let headers = format!("{FORM}x-amz-date: 20261123T000000Z\r\n{}", scope("sts", "us-east-1"));
    let answer = sns.wire.exchange("POST /", &headers, CALL).await;
    assert_eq!((answer.status, &*answer.value("Code")), (403, "InvalidClientTokenId"));
    assert_eq!(answer.value("Message"), "The security token included in the request is invalid.");
}
