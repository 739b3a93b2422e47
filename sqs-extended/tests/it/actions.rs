//! Actions that do not concern payloads are passed to the base client.

use sqs_client::operation::Action;
use sqs_client::types::QueueAttributeName;
use sqs_extended::ExtendedClient;

use super::rig::Rig;

#[tokio::test(start_paused = true)]
async fn all_actions_have_builders_and_reach_the_service() {
    let rig = Rig::new().await;
    let (client, url) = (&rig.client, rig.url.as_str());
    client.create_queue().queue_name("dead").send().await.unwrap();
    client.get_queue_url().queue_name("q").send().await.unwrap();
    client.list_queues().send().await.unwrap();
    client.tag_queue().queue_url(url).tags("k", "v").send().await.unwrap();
    client.list_queue_tags().queue_url(url).send().await.unwrap();
    client.untag_queue().queue_url(url).tag_keys("k").send().await.unwrap();
    client.list_dead_letter_source_queues().queue_url(url).send().await.unwrap();
    let attributes = client.get_queue_attributes().queue_url(url).attribute_names(QueueAttributeName::All);
    assert!(attributes.send().await.unwrap().attributes().is_some());
    let set = client.set_queue_attributes().queue_url(url);
    set.attributes(QueueAttributeName::DelaySeconds, "0").send().await.unwrap();
    let permission = client.add_permission().queue_url(url).label("l").actions("SendMessage");
    permission.aws_account_ids("123456789012").send().await.unwrap();
    client.remove_permission().queue_url(url).label("l").send().await.unwrap();
    let tasks =
        client.list_message_move_tasks().source_arn("arn:aws:sqs:us-east-1:000000000000:dead").send().await;
    assert!(tasks.is_ok());
    assert!(client.start_message_move_task().source_arn("x").send().await.is_err());
    assert!(client.cancel_message_move_task().task_handle("x").send().await.is_err());
    client.purge_queue().queue_url(url).send().await.unwrap();
    client.delete_queue().queue_url(url).send().await.unwrap();
    for action in Action::ALL {
        let is_of_messages = action.as_str().contains("Message") && !action.as_str().contains("MoveTask");
        let count = rig.server.requests().of(action).len();
        assert!(count > 0 || is_of_messages, "{action}");
    }
    assert_eq!(rig.store.calls().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn error_has_the_text_of_the_base_client() {
    let rig = Rig::new().await;
    let below = rig.plain.purge_queue().queue_url("http://h/000000000000/none").send().await.unwrap_err();
    let error = rig.client.purge_queue().queue_url("http://h/000000000000/none").send().await.unwrap_err();
    let client_error = error.client_error().unwrap();
    assert!(client_error.is_queue_does_not_exist());
    let words = |text: String| text.split(" (").next().map(str::to_owned);
    assert_eq!(words(error.to_string()), words(below.to_string()));
    assert_eq!(size_of::<sqs_extended::Error>(), size_of::<usize>());
}

/// Code written for the plain client uses these methods.
#[tokio::test(start_paused = true)]
async fn error_has_the_accessors_of_the_plain_client() {
    let rig = Rig::new().await;
    let nowhere = rig.url.replace("/q", "/none");
    let receive = || rig.client.receive_message().queue_url(&nowhere);
    match receive().send().await {
        Err(error) if error.is_queue_does_not_exist() => {
            let client = error.client_error().unwrap();
            assert_eq!((error.code(), error.message()), (client.code(), client.message()));
            assert!(error.message().is_some() && error.request_id().is_some() && !error.is_throttle());
            assert_eq!(error.request_id(), client.request_id());
        }
        other => panic!("{other:?}"),
    }
    rig.server.faults().inject(sqs_mock_server::faults::Fault::throttle());
    match receive().send().await {
        Err(error) if error.is_throttle() => assert!(error.is_request_throttled() && error.is_retryable()),
        other => panic!("{other:?}"),
    }
    let builder = ExtendedClient::builder(rig.base.clone(), rig.store.clone());
    let error = builder.concurrency(0).build().unwrap_err();
    assert_eq!(
        (error.code(), error.message(), error.request_id(), error.is_throttle()),
        (None, None, None, false)
    );
}
