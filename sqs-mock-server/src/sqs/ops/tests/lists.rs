//! Paginated lists.

use sqs_client::operation::list_dead_letter_source_queues::ListDeadLetterSourceQueuesInput;
use sqs_client::operation::list_queues::ListQueuesInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;

use super::*;

fn names(urls: &[String]) -> Vec<&str> {
    urls.iter().filter_map(|url| url.rsplit('/').next()).collect()
}

#[tokio::test]
async fn list_is_paginated_only_with_max_results() {
    let rig = rig();
    for name in ["a-1", "a-2", "a-3", "b-1"] {
        rig.queue(name, &[]).await;
    }
    let list = || ListQueuesInput::builder().queue_name_prefix("a-");
    let first = rig.call(list().max_results(2)).await.unwrap();
    assert_eq!(names(first.queue_urls()), ["a-1", "a-2"]);
    let token = first.next_token.expect("a token");
    let second = rig.call(list().max_results(2).next_token(token)).await.unwrap();
    assert_eq!((names(second.queue_urls()), second.next_token()), (vec!["a-3"], None));
    let all = rig.call(list()).await.unwrap();
    assert_eq!((names(all.queue_urls()).len(), all.next_token()), (3, None));
}

#[tokio::test]
async fn empty_list_is_omitted() {
    let rig = rig();
    assert_eq!(rig.call(ListQueuesInput::builder()).await.unwrap().queue_urls, None);
}

#[tokio::test]
async fn invalid_next_token_is_rejected() {
    let rig = rig();
    for token in ["!", "/w=="] {
        let input = ListQueuesInput::builder().next_token(token);
        assert_eq!(rig.refusal(input).await.0, ErrorCode::InvalidParameterValue, "{token}");
    }
}

#[tokio::test]
async fn sources_of_a_dead_letter_queue_match_the_redrive_policies() {
    let rig = rig();
    let dead = rig.queue("dead", &[]).await;
    for name in ["b", "a"] {
        rig.queue(name, &[("RedrivePolicy", &redrive_to("dead", 3))]).await;
    }
    let list = || ListDeadLetterSourceQueuesInput::builder().queue_url(&dead);
    let first = rig.call(list().max_results(1)).await.unwrap();
    assert_eq!(names(first.queue_urls()), ["a"]);
    let second = rig.call(list().max_results(1).set_next_token(first.next_token)).await.unwrap();
    assert_eq!((names(second.queue_urls()), second.next_token()), (vec!["b"], None));
    let set = SetQueueAttributesInput::builder().queue_url("a").attributes("RedrivePolicy".into(), "");
    rig.call(set).await.unwrap();
    assert_eq!(names(rig.call(list()).await.unwrap().queue_urls()), ["b"]);
    assert_eq!(rig.refusal(ListDeadLetterSourceQueuesInput::builder()).await.0, ErrorCode::QueueDoesNotExist);
}
