//! Queues: names, attributes, tags, creation and deletion.

use sqs_client::operation::add_permission::AddPermissionInput;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::get_queue_url::GetQueueUrlInput;
use sqs_client::operation::list_queue_tags::ListQueueTagsInput;
use sqs_client::operation::purge_queue::PurgeQueueInput;
use sqs_client::operation::remove_permission::RemovePermissionInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::operation::tag_queue::TagQueueInput;
use sqs_client::operation::tag_queue::builders::TagQueueInputBuilder;
use sqs_client::operation::untag_queue::UntagQueueInput;

use super::*;

#[tokio::test]
async fn queue_is_found_by_any_url_that_ends_in_account_and_name() {
    let rig = rig();
    assert_eq!(rig.queue("orders", &[]).await, "http://sqs.test/000000000000/orders");
    rig.send("orders", "by name").await;
    rig.send("https://elsewhere:1/000000000000/orders", "by another host").await;
    let by_path = Context {
        request_url: Some("http://sqs.test/000000000000/orders".to_owned()),
        ..rig.context.clone()
    };
    let rig = Rig { context: by_path, ..rig };
    let input = receive("").set_queue_url(None);
    assert_eq!(bodies(&rig.call(input).await.unwrap().messages.unwrap()), ["by name", "by another host"]);
}

#[tokio::test]
async fn unknown_queue_fails_with_the_text_of_the_protocol() {
    let mut rig = rig();
    let text = "The specified queue does not exist.".to_owned();
    assert_eq!(rig.refusal(send("missing", "x")).await, (ErrorCode::QueueDoesNotExist, text.clone()));
    assert_eq!(rig.refusal(PurgeQueueInput::builder()).await, (ErrorCode::QueueDoesNotExist, text));
    rig.context.is_query = true;
    let text = "The specified queue does not exist for this wsdl version.".to_owned();
    assert_eq!(rig.refusal(send("missing", "x")).await.1, text);
    let text = "The specified queue does not exist or you do not have access to it.".to_owned();
    assert_eq!(rig.refusal(GetQueueUrlInput::builder().queue_name("missing")).await.1, text);
}

#[tokio::test]
async fn accounts_and_regions_are_isolated() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "hello").await;
    let other_region =
        Rig { context: Context { region: "eu-west-1".to_owned(), ..rig.context.clone() }, ..rig.clone() };
    assert_eq!(other_region.refusal(receive(&url)).await.0, ErrorCode::QueueDoesNotExist);
    let account = "111122223333".to_owned();
    let other_account = Rig { context: Context { account, ..rig.context.clone() }, ..rig.clone() };
    assert_eq!(other_account.refusal(receive("orders")).await.0, ErrorCode::QueueDoesNotExist);
    // The account of the URL overrides that of the caller.
    assert_eq!(other_account.bodies(&url).await, ["hello"]);
    let input = GetQueueUrlInput::builder().queue_name("orders").queue_owner_aws_account_id(ACCOUNT);
    assert_eq!(other_account.call(input).await.unwrap().queue_url, Some(url));
}

#[tokio::test]
async fn repeated_create_returns_the_same_queue_unless_an_attribute_differs() {
    let rig = rig();
    let url = rig.queue("orders", &[("VisibilityTimeout", "5")]).await;
    assert_eq!(rig.queue("orders", &[]).await, url);
    assert_eq!(rig.queue("orders", &[("VisibilityTimeout", "5"), ("DelaySeconds", "0")]).await, url);
    let different =
        CreateQueueInput::builder().queue_name("orders").attributes("VisibilityTimeout".into(), "6");
    let text =
        "A queue already exists with the same name and a different value for attribute VisibilityTimeout";
    assert_eq!(rig.refusal(different.clone()).await, (ErrorCode::QueueNameExists, text.to_owned()));
    let set = SetQueueAttributesInput::builder().queue_url(&url).attributes("VisibilityTimeout".into(), "6");
    rig.call(set).await.unwrap();
    assert_eq!(rig.call(different).await.unwrap().queue_url, Some(url));
}

/// A log of AWS has the code; the text is ours.
#[tokio::test]
async fn repeated_create_with_other_tags_is_rejected() {
    let rig = rig();
    let create = |tags: &[(&str, &str)]| {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        CreateQueueInput::builder().queue_name("orders").set_tags(Some(tags))
    };
    rig.call(create(&[("team", "tea"), ("stage", "test")])).await.unwrap();
    rig.call(create(&[("team", "tea"), ("stage", "test")])).await.unwrap();
    rig.queue("orders", &[]).await;
    for other in [("team", "coffee"), ("owner", "tea")] {
        let text =
            format!("A queue already exists with the same name and a different value for tag {}", other.0);
        assert_eq!(rig.refusal(create(&[other])).await, (ErrorCode::QueueNameExists, text));
    }
}

#[tokio::test]
async fn create_is_rejected_when_name_and_kind_disagree() {
    let rig = rig();
    let fifo_without_attribute = CreateQueueInput::builder().queue_name("a.fifo");
    assert_eq!(rig.refusal(fifo_without_attribute).await.0, ErrorCode::InvalidParameterValue);
    let attribute_without_suffix =
        CreateQueueInput::builder().queue_name("a").attributes("FifoQueue".into(), "true");
    assert_eq!(rig.refusal(attribute_without_suffix).await.0, ErrorCode::InvalidParameterValue);
}

#[tokio::test]
async fn name_of_a_deleted_queue_is_blocked_for_sixty_seconds() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.call(DeleteQueueInput::builder().queue_url(&url)).await.unwrap();
    assert_eq!(rig.refusal(send(&url, "x")).await.0, ErrorCode::QueueDoesNotExist);
    let create = CreateQueueInput::builder().queue_name("orders");
    rig.pass(59).await;
    assert_eq!(rig.refusal(create.clone()).await.0, ErrorCode::QueueDeletedRecently);
    rig.pass(1).await;
    rig.call(create).await.unwrap();
}

#[tokio::test]
async fn purge_empties_the_queue_once_every_sixty_seconds() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "in flight").await;
    rig.receive(&url).await;
    rig.send(&url, "visible").await;
    let purge = PurgeQueueInput::builder().queue_url(&url);
    rig.call(purge.clone()).await.unwrap();
    assert_eq!(
        rig.service.counts(&arn("orders").parse().unwrap()),
        Some(crate::sqs::engine::messages::Counts::default())
    );
    let text = "Only one PurgeQueue operation on orders is allowed every 60 seconds.";
    assert_eq!(rig.refusal(purge.clone()).await, (ErrorCode::PurgeQueueInProgress, text.to_owned()));
    rig.pass(60).await;
    rig.call(purge).await.unwrap();
}

#[tokio::test]
async fn only_requested_attributes_that_are_set_are_returned() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let get = || GetQueueAttributesInput::builder().queue_url(&url);
    assert_eq!(rig.call(get()).await.unwrap().attributes, None);
    assert_eq!(rig.call(get().attribute_names("Policy".into())).await.unwrap().attributes, None);
    assert_eq!(rig.call(get().attribute_names("All".into())).await.unwrap().attributes.unwrap().len(), 12);
    let unknown = rig.refusal(get().attribute_names("Colour".into())).await;
    assert_eq!(unknown, (ErrorCode::InvalidAttributeName, "Unknown Attribute Colour.".to_owned()));
    assert_eq!(rig.attribute(&url, "QueueArn").await, Some(arn("orders")));
}

#[tokio::test]
async fn tags_are_added_replaced_and_removed() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let list = || ListQueueTagsInput::builder().queue_url(&url);
    assert_eq!(rig.call(list()).await.unwrap().tags, None);
    rig.call(TagQueueInput::builder().queue_url(&url).tags("team", "a").tags("empty", "")).await.unwrap();
    rig.call(TagQueueInput::builder().queue_url(&url).tags("team", "b")).await.unwrap();
    rig.call(UntagQueueInput::builder().queue_url(&url).tag_keys("empty").tag_keys("none")).await.unwrap();
    let tags = rig.call(list()).await.unwrap().tags.unwrap();
    assert_eq!(tags.into_iter().collect::<Vec<_>>(), [("team".to_owned(), "b".to_owned())]);
}

#[tokio::test]
async fn permissions_are_added_to_the_policy_and_removed() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let add = AddPermissionInput::builder().queue_url(&url).label("partner");
    let add = add.aws_account_ids("111122223333").actions("SendMessage");
    rig.call(add.clone()).await.unwrap();
    let policy = rig.attribute(&url, "Policy").await.unwrap();
    assert!(policy.contains("arn:aws:iam::111122223333:root"), "{policy}");
    let text = "Value partner for parameter Label is invalid. Reason: Already exists.";
    assert_eq!(rig.refusal(add).await, (ErrorCode::InvalidParameterValue, text.to_owned()));
    let remove = RemovePermissionInput::builder().queue_url(&url).label("partner");
    rig.call(remove.clone()).await.unwrap();
    assert_eq!(rig.attribute(&url, "Policy").await, None);
    let text = "Value partner for parameter Label is invalid. Reason: can't find label.";
    assert_eq!(rig.refusal(remove).await.1, text);
}

fn tagging(url: &str, range: std::ops::Range<usize>) -> TagQueueInputBuilder {
    let tags = range.map(|n| (n.to_string(), "x".to_owned())).collect();
    TagQueueInput::builder().queue_url(url).set_tags(Some(tags))
}

#[tokio::test]
async fn more_than_a_thousand_tags_are_rejected() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.call(tagging(&url, 0..999)).await.unwrap();
    // AWS recommends at most 50 and accepts more; this limit bounds the memory of the server.
    let refused = rig.refusal(tagging(&url, 998..1_001)).await;
    assert_eq!(refused.0, ErrorCode::InvalidParameterValue);
    rig.call(tagging(&url, 990..1_000)).await.unwrap();
    let tags = rig.call(ListQueueTagsInput::builder().queue_url(&url)).await.unwrap().tags.unwrap();
    assert_eq!(tags.len(), 1_000);
    let tags = (0..1_001).map(|n| (n.to_string(), String::new())).collect();
    let refused = rig.refusal(CreateQueueInput::builder().queue_name("other").set_tags(Some(tags))).await;
    assert_eq!(refused.0, ErrorCode::InvalidParameterValue);
}

#[tokio::test(start_paused = true)]
async fn reads_do_not_wake_tests_that_wait_for_a_change() {
    let rig = rig();
    let url = rig.queue("a", &[]).await;
    let queue = rig.service.shared.find_arn(&QueueArn::new(REGION, ACCOUNT, "a")).unwrap();
    let _watching = queue.watchers.enter();
    let mut changed = std::pin::pin!(queue.changed.notified());
    changed.as_mut().enable();
    assert!(rig.attribute(&url, "QueueArn").await.is_some());
    rig.call(ListQueueTagsInput::builder().queue_url(&url)).await.unwrap();
    assert_eq!(rig.service.usage_by_queue().await.len(), 1);
    assert!(!changed.as_mut().enable());
    rig.send(&url, "tea").await;
    assert!(changed.as_mut().enable());
}
