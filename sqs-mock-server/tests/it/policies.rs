//! The setting for access policies, over HTTP.

use serde_json::json;
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::inspect::FindingKind;
use sqs_mock_server::{MockSqs, Policies};

use crate::session::{BOTH, Session};
use crate::wire::{Answer, FORM, JSON};

const DENIAL: &str = "User: arn:aws:iam::444455556666:root is not authorized to perform: sqs:sendmessage on resource: \
                      arn:aws:sqs:us-east-1:000000000000:orders because no resource-based policy allows the \
                      sqs:sendmessage action";
const WARNING: &str = "account 444455556666 may not call sqs:SendMessage: there is no policy that allows it; AWS \
                       denies the request, this server does not";

/// Sends to the queue `orders` of the default account, as another account.
async fn send_as_other(session: &mut Session) -> Answer {
    let signature =
        "authorization: AWS4-HMAC-SHA256 Credential=444455556666/20260102/us-east-1/sqs/aws4_request\r\n";
    match session.protocol {
        Protocol::AwsJson => {
            let headers = format!("{JSON}x-amz-target: AmazonSQS.SendMessage\r\n{signature}");
            let body = json!({ "QueueUrl": "/000000000000/orders", "MessageBody": "tea" }).to_string();
            session.wire.exchange("POST /", &headers, body.as_bytes()).await
        }
        Protocol::Query => {
            let form = b"Action=SendMessage&MessageBody=tea";
            session.wire.exchange("POST /000000000000/orders", &format!("{FORM}{signature}"), form).await
        }
    }
}

#[tokio::test]
async fn enforced_policies_deny_other_accounts_with_the_text_of_aws() {
    for protocol in BOTH {
        let mut session = Session::with(MockSqs::builder().policies(Policies::Enforce), protocol).await;
        session.create("orders", &[]).await;
        let answer = send_as_other(&mut session).await;
        match protocol {
            Protocol::AwsJson => answer.refused_in_json(403, "AccessDeniedException", "AccessDenied"),
            Protocol::Query => answer.refused_in_xml(403, "AccessDenied"),
        }
        assert!(answer.text().contains(DENIAL), "{}", answer.text());
        assert_eq!(session.server.queue("orders").bodies(), [""; 0]);
    }
}

#[tokio::test]
async fn denied_requests_have_a_warning_by_default() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        session.create("orders", &[]).await;
        assert_eq!(send_as_other(&mut session).await.status, 200);
        let requests = session.server.requests();
        let warnings = requests.all().last().expect("a request").warnings().to_vec();
        assert_eq!(warnings, [format!("access_denied: {WARNING}")]);
        assert_eq!(session.server.queue("orders").bodies(), ["tea"]);
        assert_eq!(session.server.findings().len(), 1);
    }
}

#[tokio::test]
async fn strict_mode_keeps_denials_as_findings() {
    let mut session = Session::with(MockSqs::builder().strict(), Protocol::AwsJson).await;
    session.create("orders", &[]).await;
    send_as_other(&mut session).await;
    let findings = session.server.findings();
    let found: Vec<_> = findings.iter().map(|finding| (finding.kind, finding.text.as_str())).collect();
    assert_eq!(found, [(FindingKind::AccessDenied, WARNING)]);
}

#[tokio::test]
async fn config_file_sets_what_policies_do() {
    use sqs_mock_server::MockSqsBuilder;

    for (text, status, warnings) in [("off", 200, 0), ("warn", 200, 1), ("enforce", 403, 1)] {
        let builder = MockSqsBuilder::from_toml(&format!("policies = '{text}'")).unwrap();
        let mut session = Session::with(builder, Protocol::AwsJson).await;
        session.create("orders", &[]).await;
        assert_eq!(send_as_other(&mut session).await.status, status, "{text}");
        let requests = session.server.requests();
        assert_eq!(requests.all().last().expect("a request").warnings().len(), warnings, "{text}");
    }
    let refused = MockSqsBuilder::from_toml("policies = 'maybe'").unwrap_err().to_string();
    assert!(
        refused.contains("policies: ") && refused.contains("one of `off`, `warn`, `enforce`"),
        "{refused}"
    );
}
