//! The actions on queues over a socket, in both protocols.

use std::collections::HashMap;

use sqs_client::operation::{
    add_permission::AddPermissionInput, delete_queue::DeleteQueueInput, get_queue_url::GetQueueUrlInput,
    list_queue_tags::ListQueueTagsInput, list_queues::ListQueuesInput,
    remove_permission::RemovePermissionInput, set_queue_attributes::SetQueueAttributesInput,
    tag_queue::TagQueueInput, untag_queue::UntagQueueInput,
};
use sqs_client::types::QueueAttributeName;

use crate::session::{BOTH, Session};

#[tokio::test]
async fn queue_is_created_found_listed_and_deleted() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("orders", &[]).await;
        assert_eq!(url, session.server.queue_url("orders"));
        let found = session.call(GetQueueUrlInput::builder().queue_name("orders").build().unwrap()).await;
        assert_eq!(found.queue_url(), Some(&*url));
        session.create("other", &[]).await;
        let listed = session.call(ListQueuesInput::builder().queue_name_prefix("ord").build().unwrap()).await;
        assert_eq!(listed.queue_urls(), std::slice::from_ref(&url));
        session.call(DeleteQueueInput::builder().queue_url(&url).build().unwrap()).await;
        let listed = session.call(ListQueuesInput::builder().build().unwrap()).await;
        assert_eq!(listed.queue_urls(), [session.server.queue_url("other")]);
    }
}

#[tokio::test]
async fn attributes_and_tags_are_set_and_read() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[(QueueAttributeName::DelaySeconds, "7")]).await;
        assert_eq!(session.attribute(&url, QueueAttributeName::DelaySeconds).await.as_deref(), Some("7"));
        let set = SetQueueAttributesInput::builder().queue_url(&url);
        session.call(set.attributes(QueueAttributeName::VisibilityTimeout, "61").build().unwrap()).await;
        assert_eq!(
            session.attribute(&url, QueueAttributeName::VisibilityTimeout).await.as_deref(),
            Some("61")
        );
        let tags = TagQueueInput::builder().queue_url(&url).tags("team", "a & b").tags("empty", "");
        session.call(tags.build().unwrap()).await;
        session.call(UntagQueueInput::builder().queue_url(&url).tag_keys("empty").build().unwrap()).await;
        let tags = session.call(ListQueueTagsInput::builder().queue_url(&url).build().unwrap()).await;
        assert_eq!(tags.tags, Some(HashMap::from([("team".to_owned(), "a & b".to_owned())])));
    }
}

#[tokio::test]
async fn permission_is_in_the_policy_until_it_is_removed() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[]).await;
        let permission = AddPermissionInput::builder().queue_url(&url).label("reader");
        let permission = permission.aws_account_ids("123456789012").actions("ReceiveMessage");
        session.call(permission.build().unwrap()).await;
        let policy = session.attribute(&url, QueueAttributeName::Policy).await.expect("there is a policy");
        assert!(policy.contains("reader") && policy.contains("SQS:ReceiveMessage"), "{policy}");
        session.call(RemovePermissionInput::builder().queue_url(&url).label("reader").build().unwrap()).await;
        let policy = session.attribute(&url, QueueAttributeName::Policy).await;
        assert!(policy.is_none_or(|policy| !policy.contains("reader")));
    }
}
