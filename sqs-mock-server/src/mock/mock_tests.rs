//! Shutdown and drop, with clients that use no socket.
use std::time::Duration;

use sqs_client::transport::{Transport as _, TransportError, TransportErrorKind};
use tokio::task::JoinHandle;

use super::*;
use crate::config::Config;

async fn request(transport: &InProcess) -> Result<u16, TransportError> {
    let request = http::Request::get("http://sqs.test/?Action=ListQueues").body(bytes::Bytes::new());
    transport.send(request.unwrap()).await.map(|response| response.status().as_u16())
}

/// Lets woken tasks run.
async fn let_others_run() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Starts a long poll in another task, which returns the number of messages. The poll waits when this returns.
async fn parked(server: &MockSqs) -> JoinHandle<usize> {
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let poll = client.receive_message().queue_url(url).wait_time_seconds(20);
    let parked = tokio::spawn(async move { poll.send().await.unwrap().messages().len() });
    let_others_run().await;
    assert!(!parked.is_finished());
    parked
}

#[tokio::test]
async fn client_without_a_socket_cannot_connect_after_a_drop() {
    let server = MockSqs::in_process();
    let transport = server.transport();
    assert_eq!(request(&transport).await.unwrap(), 200);
    drop(server);
    assert_eq!(request(&transport).await.unwrap_err().kind(), TransportErrorKind::Connect);
}

#[tokio::test]
async fn client_without_a_socket_cannot_connect_after_a_shutdown() {
    for server in [MockSqs::in_process(), MockSqs::start().await] {
        let transport = server.transport();
        server.shutdown().await;
        assert_eq!(request(&transport).await.unwrap_err().kind(), TransportErrorKind::Connect);
    }
}

#[tokio::test(start_paused = true)]
async fn request_that_a_fault_delays_is_applied_during_a_shutdown() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    server.faults().inject(crate::faults::Fault::latency(Duration::from_secs(2)));
    let delayed = tokio::spawn(client.send_message().queue_url(url).message_body("tea").send());
    let_others_run().await;
    server.shutdown().await;
    delayed.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn drop_and_shutdown_end_a_waiting_poll_immediately_without_messages() {
    let start = tokio::time::Instant::now();
    let dropped = MockSqs::in_process();
    let poll = parked(&dropped).await;
    drop(dropped);
    assert_eq!(poll.await.unwrap(), 0);
    let shut_down = MockSqs::in_process();
    let poll = parked(&shut_down).await;
    shut_down.shutdown().await;
    assert_eq!(poll.await.unwrap(), 0);
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn drop_ends_a_move_task() {
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    let client = server.client();
    for name in ["dead", "other"] {
        client.create_queue().queue_name(name).send().await.unwrap();
    }
    let arn = |name: &str| QueueArn::new(&server.names().region, &server.names().account, name);
    let policy = format!(r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":1}}"#, arn("dead"));
    let source = client.create_queue().queue_name("source").attributes("RedrivePolicy".into(), policy);
    source.send().await.unwrap();
    for body in ["1", "2"] {
        client.send_message().queue_url(server.queue_url("dead")).message_body(body).send().await.unwrap();
    }
    let start = client.start_message_move_task().source_arn(arn("dead").to_string());
    let start = start.destination_arn(arn("other").to_string()).max_number_of_messages_per_second(1);
    start.send().await.unwrap();
    let_others_run().await;
    let (service, other) = (Arc::clone(&server.service), arn("other"));
    assert_eq!(service.counts(&other).unwrap().available, 1);
    drop(server);
    let_others_run().await;
    service.clock().advance(Duration::from_secs(60));
    let_others_run().await;
    assert_eq!(service.counts(&other).unwrap().available, 1);
}

#[test]
fn topics_that_exist_keep_their_values() {
    let file = |name: &str, raw: bool| {
        let text = format!(
            "[[queues]]\nname = 'q'\n[[topics]]\nname = 'a'\ndisplay_name = '{name}'\nmaximum_message_size = '2KiB'\n\
             policy = '{{\"Version\":\"2012-10-17\",\"Statement\":[]}}'\ntags = {{ team = 'shop' }}\n\
             [[subscriptions]]\ntopic = 'a'\nqueue = 'q'\nraw = {raw}\nfilter_policy = {{ kind = ['b'] }}\n\
             [[subscriptions]]\ntopic = 'a'\nprotocol = 'https'\nendpoint = 'https://shop.test/'"
        );
        Config::parse(&text, "sqs.toml").unwrap()
    };
    let server = MockSqsBuilder::from(file("tea", true)).in_process().unwrap();
    let before = server.topic("a").subscriptions();
    let create = |file: &Config| topics::create(&server.services.sns.actions, file);
    create(&file("tea", true)).unwrap();
    assert_eq!(server.topic("a").subscriptions(), before);
    create(&file("milk", false)).unwrap();
    assert_eq!(server.topic("a").subscriptions(), before);
}

#[tokio::test]
async fn queue_that_a_request_creates_during_a_reset_does_not_prevent_later_ones() {
    let text = "auto_create = true\n[[queues]]\nname = 'a'\ndelay = 5\n[[queues]]\nname = 'b'\n\
                [[queues]]\nname = 'c'\ndead_letter_queue = 'b'\nmax_receive_count = 3";
    let config = Config::parse(text, "sqs.toml").unwrap();
    let server = MockSqsBuilder::from(config.clone()).in_process().unwrap();
    server.service.reset();
    for name in ["a", "b"] {
        let poll = server.client().receive_message().queue_url(server.queue_url(name));
        assert!(poll.send().await.unwrap().messages().is_empty());
    }
    queues::create(&server.service, &config).unwrap();
    let redrive =
        |name| server.queue(name).describe().unwrap().attributes.contains_key(&"RedrivePolicy".into());
    assert!(server.queue("a").exists() && !redrive("b") && redrive("c"));
}
