//! Queues and messages over HTTP, without receiving.

use serde_json::{Value, json};
use sqs_client::Client;
use sqs_client::operation::Action;
use sqs_mock_server::MockSqs;

use crate::wire::Wire;

/// A server with a frozen clock at 2030-03-17T17:46:40Z.
async fn frozen() -> (MockSqs, Client, Wire) {
    let start = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_900_000_000);
    let server = MockSqs::builder().clock_start(start).clock_frozen().start().await.unwrap();
    let wire = Wire::connect(&server).await;
    let client = server.client();
    (server, client, wire)
}

async fn send(client: &Client, url: &str, body: &str, group: Option<&str>) {
    let send = client.send_message().queue_url(url).message_body(body);
    let deduplication_id = group.map(|_| body.to_owned());
    send.set_message_group_id(group.map(str::to_owned))
        .set_message_deduplication_id(deduplication_id)
        .send()
        .await
        .unwrap();
}

#[tokio::test]
async fn queues_of_all_accounts_and_regions_are_listed_in_pages() {
    let (server, client, mut wire) = frozen().await;
    for name in ["a", "b"] {
        client.create_queue().queue_name(name).send().await.unwrap();
    }
    let other = "x-amz-target: AmazonSQS.CreateQueue\r\ncontent-type: application/x-amz-json-1.0\r\n\
                 authorization: AWS4-HMAC-SHA256 Credential=123456789012/20260102/eu-west-1/sqs/aws4_request\r\n";
    assert_eq!(wire.exchange("POST /", other, br#"{"QueueName":"c"}"#).await.status, 200);
    let names = |page: &Value| {
        let queues = page["queues"].as_array().unwrap().iter();
        queues.map(|queue| queue["arn"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = wire.get("/_mock/queues?limit=2").await.content(200);
    assert_eq!(
        names(&first),
        ["arn:aws:sqs:eu-west-1:123456789012:c", "arn:aws:sqs:us-east-1:000000000000:a"]
    );
    assert_eq!((&first["total"], &first["next"]), (&json!(3), &json!(2)));
    let last = wire.get("/_mock/queues?limit=2&skip=2").await.content(200);
    assert_eq!(names(&last), ["arn:aws:sqs:us-east-1:000000000000:b"]);
    assert_eq!(last.get("next"), None);
    assert_eq!(
        last["queues"][0]["url"],
        format!("{}/000000000000/b", server.endpoint_url()),
        "queue URLs have the caller's host"
    );
    let other = wire.get("/_mock/queues/c?region=eu-west-1&account=123456789012").await.content(200);
    assert_eq!(other["name"], "c");
    for limit in ["0", "1001", "-1", "x"] {
        let error = wire.get(&format!("/_mock/queues?limit={limit}")).await.error(400);
        assert_eq!(error, format!("limit must be a number from 1 to 1000, not {limit:?}"));
    }
}

#[tokio::test]
async fn queue_is_shown_with_attributes_tags_counts_and_age() {
    let (server, client, mut wire) = frozen().await;
    client.create_queue().queue_name("dead").send().await.unwrap();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":3}"#;
    let orders = client.create_queue().queue_name("orders").attributes("RedrivePolicy".into(), policy);
    let url = orders.tags("team", "tea").send().await.unwrap().queue_url.unwrap();
    send(&client, &url, "x", None).await;
    server.clock().advance(std::time::Duration::from_secs(7));
    send(&client, &url, "y", None).await;
    client.receive_message().queue_url(&url).send().await.unwrap();
    let shown = wire.get("/_mock/queues/orders").await.content(200);
    assert_eq!(shown["messages"], json!({ "available": 1, "in_flight": 1, "delayed": 0 }));
    assert_eq!(shown["totals"], json!({ "arrived": 2, "left": 0 }));
    assert_eq!((&shown["oldest_message_age_ms"], &shown["tags"]), (&json!(7000), &json!({ "team": "tea" })));
    assert_eq!(shown["attributes"]["RedrivePolicy"], policy);
    assert_eq!(shown["attributes"]["VisibilityTimeout"], "30");
    let dead = wire.get("/_mock/queues/dead").await.content(200);
    assert_eq!(
        (&dead["dead_letter_sources"], &dead["oldest_message_age_ms"]),
        (&json!(["orders"]), &Value::Null)
    );
    let error = wire.get("/_mock/queues/none").await.error(404);
    assert!(error.starts_with("there is no queue arn:aws:sqs:us-east-1:000000000000:none;"), "{error}");
}

#[tokio::test]
async fn totals_count_dead_letters_at_both_queues() {
    let (server, client, mut wire) = frozen().await;
    let dead = client.create_queue().queue_name("dead").send().await.unwrap().queue_url.unwrap();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":1}"#;
    let orders = client.create_queue().queue_name("orders").attributes("RedrivePolicy".into(), policy);
    let url = orders.send().await.unwrap().queue_url.unwrap();
    for body in ["dead", "dead", "deleted"] {
        send(&client, &url, body, None).await;
    }
    for _ in 0..2 {
        client.receive_message().queue_url(&url).send().await.unwrap();
    }
    server.clock().advance(std::time::Duration::from_secs(30));
    let third = client.receive_message().queue_url(&url).send().await.unwrap().messages;
    let handle = third.unwrap()[0].receipt_handle.clone().unwrap();
    client.delete_message().queue_url(&url).receipt_handle(handle).send().await.unwrap();
    let totals = |shown: Value| shown["totals"].clone();
    let shown = wire.get("/_mock/queues/orders").await.content(200);
    assert_eq!(totals(shown), json!({ "arrived": 3, "left": 3 }), "two dead, one deleted");
    let shown = wire.get("/_mock/queues/dead").await.content(200);
    assert_eq!(totals(shown), json!({ "arrived": 2, "left": 0 }));
    client.purge_queue().queue_url(&dead).send().await.unwrap();
    let shown = wire.get("/_mock/queues/dead").await.content(200);
    assert_eq!(totals(shown), json!({ "arrived": 2, "left": 2 }));
}

#[tokio::test]
async fn messages_are_shown_with_their_state_without_receiving_them() {
    let (server, client, mut wire) = frozen().await;
    let create = client.create_queue().queue_name("q.fifo").attributes("FifoQueue".into(), "true");
    let url = create.send().await.unwrap().queue_url.unwrap();
    for body in ["first", "second", "third"] {
        send(&client, &url, body, Some("g")).await;
    }
    client.receive_message().queue_url(&url).send().await.unwrap();
    let arn = server.queue("q.fifo").arn().to_string();
    let mut pages = Vec::new();
    for queue in ["q.fifo", &url, &arn] {
        let page = wire.get(&format!("/_mock/messages?queue={queue}&limit=2")).await.content(200);
        assert_eq!((&page["total"], &page["next"]), (&json!(3), &json!(2)));
        pages.push(page["messages"].clone());
    }
    assert!(pages.windows(2).all(|pair| pair[0] == pair[1]));
    let (first, second) = (&pages[0][0], &pages[0][1]);
    assert_eq!((&first["body"], &first["state"]), (&json!("first"), &json!("in_flight")));
    assert_eq!((&first["until"], &first["receive_count"]), (&json!("2030-03-17T17:47:10.000Z"), &json!(1)));
    assert_eq!(
        (&first["group"], &first["first_received"]),
        (&json!("g"), &json!("2030-03-17T17:46:40.000Z"))
    );
    assert_eq!((&second["state"], &second["by"]), (&json!("group_locked"), &first["id"]));
    assert_eq!((&second["until"], &second["first_received"]), (&first["until"], &Value::Null));
    let rest = wire.get("/_mock/messages?queue=q.fifo&skip=2").await.content(200);
    assert_eq!((rest["messages"].as_array().unwrap().len(), rest.get("next")), (1, None));
    let why = wire.get("/_mock/queues/q.fifo/why-empty").await.content(200);
    assert_eq!(why["reason"], "groups_locked");
    let text = why["text"].as_str().unwrap();
    assert!(text.contains(r#"group "g" is locked by message"#) && text.contains("17:47:10"), "{text}");
}

#[tokio::test]
async fn invalid_parameters_of_messages_are_rejected() {
    let (_server, _client, mut wire) = frozen().await;
    let error = wire.get("/_mock/messages").await.error(400);
    assert_eq!(error, "the parameter queue is missing: a name, a URL or an ARN");
    assert!(wire.get("/_mock/messages?queue=none").await.error(404).contains("there is no queue"));
    assert!(wire.get("/_mock/messages?queue=q&deep=1").await.error(400).contains("allowed: queue, region"));
    let why = wire.get("/_mock/queues/none/why-empty").await.content(200);
    assert_eq!(why, json!({ "reason": "no_such_queue", "text": "there is no such queue" }));
}

#[tokio::test]
async fn long_bodies_make_short_pages() {
    let (_server, client, mut wire) = frozen().await;
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let body = "x".repeat(1 << 20);
    for _ in 0..9 {
        send(&client, &url, &body, None).await;
    }
    let page = wire.get("/_mock/messages?queue=q").await.content(200);
    assert_eq!((page["messages"].as_array().unwrap().len(), &page["next"]), (8, &json!(8)));
    let answer = wire.get(&format!("/_aws/sqs/messages?QueueUrl={url}")).await;
    assert_eq!(answer.text().matches("<Message>").count(), 8);
}

#[tokio::test]
async fn reset_removes_queues_and_requests_ends_polls_and_restarts_the_clock() {
    let (server, client, mut wire) = frozen().await;
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    send(&client, &url, "x", None).await;
    let received = client.receive_message().queue_url(&url).send().await.unwrap();
    let stale = received.messages()[0].receipt_handle().unwrap().to_owned();
    let poll = client.receive_message().queue_url(&url).wait_time_seconds(20);
    let poll = tokio::spawn(async move { poll.send().await });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert!(!poll.is_finished());
    server.clock().advance(std::time::Duration::from_secs(5));
    server.clock().resume();
    assert_eq!(wire.post("/_mock/reset", "").await.content(200), json!({ "reset": true }));
    assert!(poll.await.unwrap().unwrap_err().is_queue_does_not_exist());
    assert_eq!(wire.get("/_mock/queues").await.content(200)["total"], 0);
    assert!(server.requests().of(Action::SendMessage).is_empty(), "recorded requests are removed");
    assert_eq!((server.clock().now().as_secs(), server.clock().is_frozen()), (1_900_000_000, true));
    // The queue can be created again immediately, and old receipt handles do not match.
    client.create_queue().queue_name("q").send().await.unwrap();
    send(&client, &url, "x", None).await;
    client.receive_message().queue_url(&url).send().await.unwrap();
    let error = client.delete_message().queue_url(&url).receipt_handle(stale).send().await.unwrap_err();
    assert!(error.is_receipt_handle_is_invalid(), "{error}");
    assert_eq!(server.queue("q").counts().unwrap().in_flight, 1);
    server.reset();
    assert!(!server.queue("q").exists());
}

#[tokio::test]
async fn reset_ends_move_tasks() {
    let (server, client, _wire) = frozen().await;
    let dead = server.queue("dead").arn().to_string();
    let policy = format!(r#"{{"deadLetterTargetArn":"{dead}","maxReceiveCount":1}}"#);
    for round in 0..2 {
        let url = client.create_queue().queue_name("dead").send().await.unwrap().queue_url.unwrap();
        let source = client.create_queue().queue_name("q").attributes("RedrivePolicy".into(), &policy);
        source.send().await.unwrap();
        let other = client.create_queue().queue_name("other").send().await.unwrap();
        assert_eq!(other.queue_url().unwrap(), server.queue_url("other"));
        send(&client, &url, "1", None).await;
        send(&client, &url, "2", None).await;
        // At one message a second and with a frozen clock, the task is still running at the reset.
        let start = client.start_message_move_task().source_arn(&dead);
        let start = start.destination_arn(server.queue("other").arn().to_string());
        start.max_number_of_messages_per_second(1).send().await.unwrap();
        let tasks = client.list_message_move_tasks().source_arn(&dead).max_results(10).send().await.unwrap();
        assert_eq!(tasks.results().len(), 1, "round {round}");
        assert_eq!(tasks.results()[0].status(), Some("RUNNING"), "round {round}");
        server.reset();
    }
}
