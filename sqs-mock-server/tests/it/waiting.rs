//! Waits for the state of a queue.

use std::time::Duration;

use sqs_client::Client;
use sqs_mock_server::MockSqs;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

async fn queue(server: &MockSqs, name: &str) -> (Client, String) {
    let client = server.client();
    let url = client.create_queue().queue_name(name).send().await.unwrap().queue_url.unwrap();
    (client, url)
}

async fn send(client: &Client, url: &str, body: &str) {
    client.send_message().queue_url(url).message_body(body).send().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn wait_ends_with_the_send_that_meets_the_condition() {
    let server = MockSqs::in_process();
    let (client, url) = queue(&server, "q").await;
    let start = Instant::now();
    let sender = tokio::spawn(async move {
        for body in ["a", "b", "c"] {
            tokio::time::sleep(SECOND).await;
            send(&client, &url, body).await;
        }
    });
    let messages = server.queue("q").expect_messages(2).await.unwrap();
    assert_eq!(
        messages.iter().map(sqs_mock_server::inspect::PeekedMessage::body).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(start.elapsed(), 2 * SECOND);
    sender.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn wait_times_out_and_shows_the_messages() {
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    let (client, url) = queue(&server, "q").await;
    send(&client, &url, "received").await;
    client.receive_message().queue_url(&url).send().await.unwrap();
    send(&client, &url, "waiting").await;
    let start = Instant::now();
    let unmet = server.queue("q").within(2 * SECOND).expect_messages(3).await.unwrap_err();
    assert_eq!(start.elapsed(), 2 * SECOND);
    let text = format!("{unmet:?}");
    let until = server.clock().now() + 30 * SECOND;
    assert!(text.starts_with("waited 2s for queue \"q\" to have 3 messages; it has 2:\n"), "{text}");
    assert!(text.contains(&format!("\"received\"  in flight until {until}  1 ")), "{text}");
    assert!(text.contains("\"waiting\"   visible "), "{text}");
    assert_eq!(unmet.messages().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn queue_can_be_created_during_a_wait() {
    let server = MockSqs::in_process();
    let waiting = server.queue("late");
    let unmet = waiting.clone().within(SECOND).expect_messages(1).await.unwrap_err();
    assert_eq!(unmet.to_string(), "waited 1s for queue \"late\" to have 1 message; the queue does not exist");
    queue(&server, "latte").await;
    let unmet = waiting.clone().within(SECOND).expect_messages(1).await.unwrap_err();
    assert!(unmet.to_string().ends_with("the queue does not exist; there is \"latte\""), "{unmet}");
    let (sent, waited) = tokio::join!(
        async {
            let (client, url) = queue(&server, "late").await;
            tokio::task::yield_now().await;
            send(&client, &url, "x").await;
        },
        waiting.expect_messages(1)
    );
    assert_eq!((sent, waited.unwrap().len()), ((), 1));
}

#[tokio::test(start_paused = true)]
async fn due_timer_of_the_queue_wakes_a_wait() {
    let server = MockSqs::in_process();
    let (client, url) = queue(&server, "q").await;
    let delayed = client.send_message().queue_url(&url).message_body("x").delay_seconds(3);
    delayed.send().await.unwrap();
    let start = Instant::now();
    let visible = |messages: &[sqs_mock_server::inspect::PeekedMessage]| {
        messages.iter().all(|message| message.visibility == sqs_mock_server::inspect::Visibility::Visible)
    };
    server.queue("q").wait_for(visible).await.unwrap();
    assert_eq!(start.elapsed(), 3 * SECOND);
}

#[tokio::test]
async fn advancing_the_clock_wakes_a_wait_for_emptiness() {
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    let (client, url) = queue(&server, "q").await;
    send(&client, &url, "x").await;
    let advance = async {
        tokio::task::yield_now().await;
        server.clock().advance(Duration::from_hours(4 * 24));
    };
    let view = server.queue("q");
    let (emptied, ()) = tokio::join!(view.wait_until_empty(), advance);
    emptied.unwrap();
}

#[tokio::test(start_paused = true)]
async fn expect_none_fails_as_soon_as_a_message_arrives() {
    let server = MockSqs::in_process();
    let (client, url) = queue(&server, "q").await;
    let start = Instant::now();
    server.queue("q").expect_none(4 * SECOND).await.unwrap();
    assert_eq!(start.elapsed(), 4 * SECOND);
    let noise = async {
        tokio::time::sleep(SECOND).await;
        send(&client, &url, "noise").await;
    };
    let view = server.queue("q");
    let (silence, ()) = tokio::join!(view.expect_none(4 * SECOND), noise);
    assert_eq!(start.elapsed(), 5 * SECOND);
    let text = silence.unwrap_err().to_string();
    assert!(text.starts_with("expected no message in queue \"q\" for 4s; it has 1:"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn concurrent_waits_for_one_queue_do_not_wake_each_other() {
    let server = MockSqs::in_process();
    let (client, url) = queue(&server, "q").await;
    let (a, b) = (server.queue("q"), server.queue("q"));
    let asked = std::cell::Cell::new(0);
    let count = |messages: &[sqs_mock_server::inspect::PeekedMessage]| {
        asked.set(asked.get() + 1);
        messages.len() == 2
    };
    let sends = async {
        for body in ["1", "2"] {
            tokio::time::sleep(SECOND).await;
            send(&client, &url, body).await;
        }
    };
    let (a, b, ()) = tokio::join!(a.wait_for(count), b.wait_for(count), sends);
    assert_eq!((a.unwrap().len(), b.unwrap().len()), (2, 2));
    assert!(asked.get() <= 8, "{} checks for two changes", asked.get());
}
