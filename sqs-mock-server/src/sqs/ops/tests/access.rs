//! Access policies of queues, for callers of the own and of other accounts.

use serde_json::Value;
use serde_json::json;
use sqs_client::operation::add_permission::AddPermissionInput;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::get_queue_url::GetQueueUrlInput;
use sqs_client::operation::list_queue_tags::ListQueueTagsInput;
use sqs_client::operation::purge_queue::PurgeQueueInput;
use sqs_client::operation::remove_permission::RemovePermissionInput;
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::types::SendMessageBatchRequestEntry;

use super::*;
use crate::control::policies::Policies;
use crate::sqs::findings::FindingKind;

const OTHER: &str = "444455556666";

fn rig_of(policies: Policies) -> Rig {
    rig_with(Settings { policies, one_minute_rules: false, ..Settings::default() })
}

impl Rig {
    /// The same server, called by another account.
    fn other(&self) -> Self {
        let (account, base_url) = (OTHER.to_owned(), self.context.base_url.clone());
        let context = Context { account, base_url, region: REGION.to_owned(), ..Context::default() };
        Self { context, ..self.clone() }
    }

    async fn queue_with(&self, statements: Value) -> String {
        let policy = json!({ "Version": "2012-10-17", "Statement": statements }).to_string();
        self.queue("orders", &[("Policy", &policy)]).await
    }

    /// The details of denials so far.
    fn denials(&self) -> Vec<String> {
        let findings = self.context.trace.findings();
        assert!(findings.iter().all(|finding| finding.kind == FindingKind::AccessDenied));
        findings.iter().map(|finding| finding.text.clone()).collect()
    }
}

fn statement(effect: &str, principal: &str, actions: &[&str]) -> Value {
    json!({ "Sid": effect, "Effect": effect, "Principal": { "AWS": principal }, "Action": actions, "Resource": arn("orders") })
}

/// The text of AWS.
fn denied(account: &str, action: &str, reason: &str) -> (ErrorCode, String) {
    let user =
        format!("User: arn:aws:iam::{account}:root is not authorized to perform: sqs:{action} on resource:");
    (ErrorCode::AccessDenied, format!("{user} {} {reason}", arn("orders")))
}

fn not_allowed(action: &str) -> (ErrorCode, String) {
    denied(OTHER, action, &format!("because no resource-based policy allows the sqs:{action} action"))
}

const EXPLICIT: &str = "with an explicit deny in a resource-based policy";

#[tokio::test]
async fn other_account_needs_a_statement_that_allows_the_action() {
    let rig = rig_of(Policies::Enforce);
    let url = rig.queue("orders", &[]).await;
    let other = rig.other();
    assert_eq!(other.refusal(send(&url, "x")).await, not_allowed("sendmessage"));
    let add = AddPermissionInput::builder().queue_url(&url).label("partner");
    rig.call(add.aws_account_ids(OTHER).actions("SendMessage")).await.unwrap();
    other.send(&url, "allowed").await;
    assert_eq!(other.refusal(receive(&url)).await, not_allowed("receivemessage"));
    rig.call(RemovePermissionInput::builder().queue_url(&url).label("partner")).await.unwrap();
    assert_eq!(other.refusal(send(&url, "x")).await, not_allowed("sendmessage"));
    assert_eq!(rig.bodies(&url).await, ["allowed"]);
}

#[tokio::test]
async fn own_account_is_stopped_only_by_a_statement_that_denies() {
    let rig = rig_of(Policies::Enforce);
    let deny = statement("Deny", "*", &["sqs:SendMessage", "sqs:PurgeQueue"]);
    let allow = statement("Allow", "*", &["sqs:*"]);
    let url = rig.queue_with(json!([deny, allow])).await;
    assert_eq!(rig.refusal(send(&url, "x")).await, denied(ACCOUNT, "sendmessage", EXPLICIT));
    assert_eq!(rig.other().refusal(send(&url, "x")).await, denied(OTHER, "sendmessage", EXPLICIT));
    let purge = PurgeQueueInput::builder().queue_url(&url);
    assert_eq!(rig.refusal(purge).await, denied(ACCOUNT, "purgequeue", EXPLICIT));
    assert!(rig.receive(&url).await.is_empty());
    let open = SetQueueAttributesInput::builder().queue_url(&url).attributes("Policy".into(), "");
    rig.call(open).await.unwrap();
    rig.send(&url, "without a policy").await;
}

#[tokio::test]
async fn policies_never_grant_actions_of_the_owner() {
    let rig = rig_of(Policies::Enforce);
    let url = rig.queue_with(statement("Allow", "*", &["sqs:*"])).await;
    let other = rig.other();
    other.send(&url, "x").await;
    let delete = DeleteQueueInput::builder().queue_url(&url);
    assert_eq!(other.refusal(delete).await, not_allowed("deletequeue"));
    let change = SetQueueAttributesInput::builder().queue_url(&url).attributes("DelaySeconds".into(), "1");
    assert_eq!(other.refusal(change).await, not_allowed("setqueueattributes"));
    let tags = ListQueueTagsInput::builder().queue_url(&url);
    assert_eq!(other.refusal(tags).await, not_allowed("listqueuetags"));
    let text = "account 444455556666 may not call sqs:DeleteQueue: no policy can allow this action to other accounts";
    assert_eq!(other.denials().first().map(String::as_str), Some(text));
}

#[tokio::test]
async fn batch_needs_the_permission_of_its_entries() {
    let rig = rig_of(Policies::Enforce);
    for (allowed, refusal) in
        [("sqs:SendMessage", None), ("sqs:ReceiveMessage", Some(not_allowed("sendmessage")))]
    {
        let url = rig.queue_with(statement("Allow", OTHER, &[allowed])).await;
        let entry = SendMessageBatchRequestEntry::builder().id("a").message_body("x").build().unwrap();
        let batch = SendMessageBatchInput::builder().queue_url(&url).entries(entry);
        match refusal {
            Some(refusal) => assert_eq!(rig.other().refusal(batch).await, refusal),
            None => assert_eq!(rig.other().call(batch).await.unwrap().successful().len(), 1),
        }
        rig.call(DeleteQueueInput::builder().queue_url(&url)).await.unwrap();
    }
}

#[tokio::test]
async fn url_of_a_queue_of_another_account_needs_a_permission() {
    let rig = rig_of(Policies::Enforce);
    let url = rig.queue("orders", &[]).await;
    let get = GetQueueUrlInput::builder().queue_name("orders").queue_owner_aws_account_id(ACCOUNT);
    assert_eq!(rig.other().refusal(get.clone()).await, not_allowed("getqueueurl"));
    let add = AddPermissionInput::builder().queue_url(&url).label("partner");
    rig.call(add.aws_account_ids(OTHER).actions("GetQueueUrl")).await.unwrap();
    assert_eq!(rig.other().call(get).await.unwrap().queue_url, Some(url));
}

#[tokio::test]
async fn denied_requests_succeed_with_a_finding_by_default() {
    let rig = rig_of(Policies::default());
    let url = rig.queue_with(statement("Deny", "111122223333", &["sqs:*"])).await;
    let other = rig.other();
    other.send(&url, "x").await;
    let text = "account 444455556666 may not call sqs:SendMessage: no statement of the policy allows anything; AWS denies \
         the request, this server does not";
    assert_eq!(other.denials(), [text]);
    rig.send(&url, "y").await;
    assert_eq!(rig.denials(), [""; 0]);
    assert_eq!(rig.bodies(&url).await, ["x", "y"]);
}

#[tokio::test]
async fn policies_that_are_off_report_nothing() {
    let rig = rig_of(Policies::Off);
    let url = rig.queue_with(statement("Deny", "*", &["sqs:*"])).await;
    let other = rig.other();
    other.send(&url, "x").await;
    rig.send(&url, "y").await;
    assert_eq!((other.denials(), rig.denials()), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn conditions_follow_the_clock_of_the_server() {
    let rig = rig_of(Policies::Enforce);
    let mut allow = statement("Allow", OTHER, &["sqs:SendMessage"]);
    let end = (START + Duration::from_secs(60)).to_string();
    allow["Condition"] = json!({ "DateLessThan": { "aws:CurrentTime": end } });
    let url = rig.queue_with(allow).await;
    rig.other().send(&url, "x").await;
    rig.pass(60).await;
    assert_eq!(rig.other().refusal(send(&url, "x")).await, not_allowed("sendmessage"));
}
