//! Each message of a receive is opened by itself, in bounded time and memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sqs_buffered::{Consumer, Outcome};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName, UnopenedMessage,
};
use sqs_extended::{Error, ErrorKind, ExtendedClient, ExtendedHandle, MessagePayload, Pointer, Unopened};
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep, timeout};

use super::base_client::BaseClient;
use super::faulty_store::{FaultyStore, StoreCall, StoreFault};
use super::rig::{Rig, large};
use super::wrapped_store::WrappedStore;

/// A store with slow bodies that records how many are read at once.
#[derive(Clone)]
struct Slow {
    store: WrappedStore,
    most: Arc<AtomicUsize>,
}

impl Slow {
    fn new(inner: FaultyStore, takes: Duration) -> Self {
        let (running, most) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let seen = Arc::clone(&most);
        let mut store = WrappedStore::new(inner);
        store.gets = Some(Arc::new(move |mut object| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&seen));
            let slowly = async move {
                most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                sleep(takes).await;
                running.fetch_sub(1, Ordering::Relaxed);
                Ok(Bytes::new())
            };
            object.body = stream::once(slowly).chain(object.body).boxed();
            object
        }));
        Self { store, most }
    }
}

/// The bodies of the messages of a plain receive, and the ids of those that did not open.
async fn receive(client: &ExtendedClient, url: &str) -> (Vec<String>, Vec<UnopenedMessage>) {
    let receive = client.receive_message().queue_url(url).max_number_of_messages(10);
    let output =
        receive.message_system_attribute_names(MessageSystemAttributeName::All).send().await.unwrap();
    let bodies = output.messages().iter().map(|message| message.body().unwrap()[..1].to_owned()).collect();
    (bodies, output.unopened_messages().to_vec())
}

fn error(unopened: &UnopenedMessage) -> &Error {
    unopened.error.downcast_ref().expect("an error of this crate")
}

#[tokio::test(start_paused = true)]
async fn receive_loads_all_its_payloads_at_once() {
    let rig = Rig::new().await;
    for number in 0..10 {
        rig.send(large(&number.to_string())).await;
    }
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(1));
    let client = ExtendedClient::new(rig.base.clone(), slow.store.clone());
    let started = Instant::now();
    assert_eq!(client.receive(&rig.url).send().await.unwrap().len(), 10);
    assert_eq!((slow.most.load(Ordering::Relaxed), started.elapsed().as_secs()), (10, 1));
}

#[tokio::test(start_paused = true)]
async fn payload_that_hangs_delays_no_receive_beyond_half_of_the_visibility_timeout() {
    // The timeout of the queue, that of the receive, one that is unknown, one that hides nothing, and the client's own.
    for (own, asked, seconds) in
        [(None, None, 15), (None, Some(8), 4), (None, Some(0), 15), (Some(3), Some(8), 3)]
    {
        let rig = Rig::new().await;
        for body in [large("a"), large("b"), "c".to_owned()] {
            rig.send(body).await;
        }
        let hanging = rig.pointers().remove(0);
        let mut store = WrappedStore::new(rig.store.clone());
        let (at, body) = (hanging.clone(), rig.store.bytes(&hanging).unwrap()[..1].to_vec());
        store.before_gets = Some(Arc::new(move |read| {
            let hangs = read == at;
            Box::pin(async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
            })
        }));
        let mut builder = ExtendedClient::builder(rig.base.clone(), store);
        if let Some(seconds) = own {
            builder = builder.open_timeout(Duration::from_secs(seconds));
        }
        let client = builder.build().unwrap();
        let mut receive = client.receive_message().queue_url(&rig.url).max_number_of_messages(10);
        if let Some(seconds) = asked {
            receive = receive.visibility_timeout(seconds);
        }
        let started = Instant::now();
        let output = receive.send().await.unwrap();
        assert_eq!(started.elapsed().as_secs(), seconds);
        let bodies: BTreeSet<_> = output
            .messages()
            .iter()
            .map(|message| message.body().unwrap().as_bytes()[..1].to_vec())
            .collect();
        assert!(bodies.len() == 2 && !bodies.contains(&body));
        let unopened = &output.unopened_messages()[0];
        assert_eq!(error(unopened).kind(), ErrorKind::Unavailable);
        assert_eq!(error(unopened).pointer(), Some(&hanging));
        assert!(error(unopened).to_string().contains("open_timeout"), "{}", error(unopened));
        let MessagePayload::Lazy(payload) = rig.client.payload(&unopened.message) else {
            panic!("no reference")
        };
        assert_eq!(payload.pointer(), &hanging);
        assert!(Pointer::from_body(unopened.message.body().unwrap()).is_ok(), "it is as SQS has it");
    }
}

#[tokio::test(start_paused = true)]
async fn payloads_that_hang_keep_no_others_of_the_receive_from_loading() {
    for hanging in [1, 4, 9] {
        let rig = Rig::new().await;
        for number in 0..10 {
            rig.send(large(&number.to_string())).await;
        }
        let bad = rig.pointers().split_off(10 - hanging);
        rig.store.fail_when(move |call, at| {
            (call == StoreCall::Get && bad.contains(at)).then_some(StoreFault::Hang)
        });
        let client = ExtendedClient::builder(rig.base.clone(), rig.store.clone()).memory_budget(300_000);
        let (bodies, unopened) = receive(&client.build().unwrap(), &rig.url).await;
        assert_eq!((bodies.len(), unopened.len()), (10 - hanging, hanging), "and they take no memory");
    }
}

#[tokio::test(start_paused = true)]
async fn any_open_timeout_is_accepted_and_a_lookup_that_hangs_does_not_prolong_the_default() {
    let rig = Rig::with("q", |builder| builder.open_timeout(Duration::MAX)).await;
    rig.send(large("a")).await;
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(100));
    let client = ExtendedClient::builder(rig.base.clone(), slow.store.clone()).open_timeout(Duration::MAX);
    assert_eq!(receive(&client.build().unwrap(), &rig.url).await.0, ["a"]);
    sleep(Duration::from_secs(31)).await;
    let hangs = Fault::latency(Duration::from_secs(3_600)).on(Action::GetQueueAttributes);
    rig.server.faults().inject(hangs);
    let client = ExtendedClient::new(rig.base.clone(), slow.store);
    let started = Instant::now();
    assert_eq!(receive(&client, &rig.url).await.1.len(), 1);
    assert!(started.elapsed() <= Duration::from_secs(15), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn no_plain_receive_returns_a_pointer_as_a_body() {
    let rig = Rig::new().await;
    for body in [large("a"), "b".to_owned()] {
        rig.send(body).await;
    }
    for kind in [ErrorKind::Unavailable, ErrorKind::Forbidden, ErrorKind::NotFound, ErrorKind::Damaged] {
        rig.store.fail_when(move |call, _| (call == StoreCall::Get).then_some(StoreFault::Fail(kind)));
        let (bodies, unopened) = receive(&rig.client, &rig.url).await;
        assert_eq!((bodies.as_slice(), unopened.len()), (["b".to_owned()].as_slice(), 1));
        assert_eq!(error(&unopened[0]).kind(), kind);
        sleep(Duration::from_secs(31)).await;
    }
    rig.store.heal();
    assert_eq!(receive(&rig.client, &rig.url).await.0.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn receive_fails_as_a_whole_if_the_client_is_told_to() {
    let rig = Rig::with("q", |builder| builder.fail_receives(true)).await;
    for body in [large("a"), "b".to_owned()] {
        rig.send(body).await;
    }
    rig.store.fail_next(StoreCall::Get, StoreFault::Fail(ErrorKind::Forbidden));
    let failed = rig.client.receive_message().queue_url(&rig.url).max_number_of_messages(10).send().await;
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Forbidden);
    sleep(Duration::from_secs(31)).await;
    assert_eq!(receive(&rig.client, &rig.url).await.0, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn later_messages_of_a_group_do_not_overtake_one_that_does_not_open() {
    let rig = Rig::<BaseClient>::over("q.fifo", RetryConfig::standard(), |builder| builder).await;
    for (group, body) in [("x", large("1")), ("x", large("2")), ("y", large("3")), ("x", "4".to_owned())] {
        let send = rig.client.send_message().queue_url(&rig.url).message_body(body);
        send.message_group_id(group).send().await.unwrap();
    }
    let second = rig.pointers().into_iter().find(|at| rig.store.bytes(at).unwrap()[0] == b'2').unwrap();
    rig.store.fail_when(move |call, at| {
        (call == StoreCall::Get && *at == second).then_some(StoreFault::Fail(ErrorKind::Unavailable))
    });
    let (bodies, unopened) = receive(&rig.client, &rig.url).await;
    assert_eq!((bodies, unopened.len()), (vec!["1".to_owned(), "3".to_owned()], 2));
    assert!(error(&unopened[1]).to_string().contains("earlier message of its group"));
    for one in &unopened {
        assert_eq!(ExtendedHandle::parse(one.message.receipt_handle().unwrap()), None, "a handle of SQS");
    }
}

#[tokio::test(start_paused = true)]
async fn typed_receive_fails_the_messages_of_a_group_behind_one_that_does_not_open() {
    for is_lazy in [false, true] {
        let rig = Rig::with("q.fifo", |builder| builder).await;
        let (one, four) = (large("1"), large("4"));
        for (group, body) in [("x", &*one), ("x", "bad"), ("x", &*four), ("x", "5"), ("y", "6")] {
            let mut send = rig.client.send_message().queue_url(&rig.url).message_body(body);
            if body == "bad" {
                send = send.message_attributes("ExtendedPayloadSize", MessageAttributeValue::number(3));
            }
            send.message_group_id(group).send().await.unwrap();
        }
        let receive = rig.client.receive(&rig.url);
        let received = if is_lazy { receive.lazy() } else { receive }.send().await.unwrap();
        let kinds: Vec<_> = received.iter().map(|one| one.body().err().map(|error| error.kind())).collect();
        let behind = Some(ErrorKind::Unavailable);
        assert_eq!(kinds, [None, Some(ErrorKind::BadPointer), behind, behind, None], "lazy: {is_lazy}");
        for one in &received[2..4] {
            let text = one.body().unwrap_err().to_string();
            assert!(text.contains("earlier message of its group"), "{text}");
            assert_eq!(ExtendedHandle::parse(one.receipt_handle().unwrap()), None, "a handle of SQS");
        }
        assert!(Pointer::from_body(received[2].message.body().unwrap()).is_ok(), "as received");
        assert_eq!(received[2].body_stream().await.unwrap().text(300_000).await.unwrap(), four);
    }
}

#[tokio::test(start_paused = true)]
async fn later_messages_of_a_group_are_as_received_also_if_a_missing_one_is_deleted() {
    let settings = |builder: sqs_extended::ExtendedClientBuilder<_>| builder.missing_object(Unopened::Delete);
    let rig = Rig::with("q.fifo", settings).await;
    for (group, body) in [("x", "1"), ("y", "2"), ("x", "3"), ("y", "4")] {
        let send = rig.client.send_message().queue_url(&rig.url).message_body(large(body));
        send.message_group_id(group).send().await.unwrap();
    }
    let of =
        |mark: u8| rig.pointers().into_iter().find(|at| rig.store.bytes(at).unwrap()[0] == mark).unwrap();
    let (gone, failing, behind) = (of(b'1'), of(b'2'), of(b'4'));
    rig.store.remove(&gone);
    rig.store.fail_when(move |call, at| {
        (call == StoreCall::Get && *at == failing).then_some(StoreFault::Fail(ErrorKind::Unavailable))
    });
    let (bodies, unopened) = receive(&rig.client, &rig.url).await;
    assert_eq!((bodies, unopened.len(), rig.bodies().len()), (vec!["3".to_owned()], 2, 3));
    assert_eq!(Pointer::from_body(unopened[1].message.body().unwrap()).unwrap(), behind, "as received");
}

#[tokio::test(start_paused = true)]
async fn dropped_receive_makes_its_messages_visible_again() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    rig.send("small").await;
    rig.store.fail_when(|call, _| (call == StoreCall::Get).then_some(StoreFault::Hang));
    let typed = rig.client.receive(&rig.url).send();
    assert!(timeout(Duration::from_secs(5), typed).await.is_err());
    rig.client.finish_cleanup().await;
    assert_eq!((rig.bodies().len(), rig.in_flight()), (2, 0), "finish_cleanup waits for it");
    assert!(timeout(Duration::from_secs(5), rig.receive()).await.is_err());
    rig.client.finish_cleanup().await;
    assert_eq!((rig.bodies().len(), rig.in_flight()), (2, 0));
    // Messages that were returned to the caller stay hidden.
    rig.store.heal();
    assert_eq!(rig.receive().await.len(), 2);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(rig.in_flight(), 2);
}

#[tokio::test(start_paused = true)]
async fn payloads_wait_for_the_memory_budget_and_a_larger_one_loads_alone() {
    let rig = Rig::new().await;
    for number in 0..8 {
        rig.send(large(&number.to_string())).await;
    }
    rig.send(format!("8{}", "x".repeat(700_000))).await;
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(1));
    let client = ExtendedClient::builder(rig.base.clone(), slow.store.clone()).memory_budget(600_000);
    let (client, started) = (client.build().unwrap(), Instant::now());
    let receive = || client.receive(&rig.url).max_messages(5).send();
    let (first, second) = tokio::join!(receive(), receive());
    let messages: Vec<_> = first.unwrap().into_iter().chain(second.unwrap()).collect();
    assert!(messages.len() == 9 && messages.iter().all(|message| message.body().is_ok()));
    assert_eq!(slow.most.load(Ordering::Relaxed), 2);
    assert!((5..=6).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
}

/// S3 closes connections on which nothing moves.
#[tokio::test(start_paused = true)]
async fn response_that_breaks_while_its_payload_waits_for_memory_is_requested_again() {
    let rig = Rig::new().await;
    for number in 0..4 {
        rig.send(large(&number.to_string())).await;
    }
    let mut slow = Slow::new(rig.store.clone(), Duration::from_secs(3));
    let gets = slow.store.gets.take().unwrap();
    slow.store.gets = Some(Arc::new(move |object| {
        let (opened, mut object) = (Instant::now(), gets(object));
        let unless_idle = stream::once(async move {
            let is_idle = opened.elapsed() >= Duration::from_secs(1);
            let error = || Error::new(ErrorKind::Unavailable, "the connection was closed");
            if is_idle { Err(error()) } else { Ok(Bytes::new()) }
        });
        object.body = unless_idle.chain(object.body).boxed();
        object
    }));
    let client = ExtendedClient::builder(rig.base.clone(), slow.store.clone()).memory_budget(300_000);
    let received = client.build().unwrap().receive(&rig.url).send().await.unwrap();
    assert!(received.len() == 4 && received.iter().all(|message| message.body().is_ok()));
    assert_eq!((slow.most.load(Ordering::Relaxed), rig.store.calls().gets), (1, 4 + 3));
}

#[tokio::test(start_paused = true)]
async fn payload_that_trickles_does_not_keep_the_memory_budget_from_others() {
    let rig = Rig::new().await;
    rig.send(large("bad")).await;
    let bad = rig.pointers().remove(0);
    for number in 0..5 {
        rig.send(large(&number.to_string())).await;
    }
    let mut store = WrappedStore::new(rig.store.clone());
    store.gets = Some(Arc::new(|mut object| {
        let trickling = object.body.flat_map(|piece| {
            let piece = piece.unwrap();
            if !piece.starts_with(b"bad") {
                return stream::iter([Ok(piece)]).boxed();
            }
            // Each byte is within the store timeout of 120 s.
            let bytes = stream::iter((0..piece.len()).map(move |place| piece.slice(place..=place)));
            let trickle = bytes.then(async |byte| {
                sleep(Duration::from_secs(100)).await;
                Ok(byte)
            });
            trickle.boxed()
        });
        object.body = trickling.boxed();
        object
    }));
    // Room for one of them.
    let client = ExtendedClient::builder(rig.base.clone(), store).memory_budget(300_000).build().unwrap();
    let handled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&handled);
    let consumer = Consumer::builder(client.clone(), &rig.url).message_handler(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(Outcome::Ack) }
    });
    let started = Instant::now();
    let others = async {
        while handled.load(Ordering::Relaxed) < 5 && started.elapsed() < Duration::from_secs(3_600) {
            sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(started.elapsed().as_secs(), 122, "the others wait for a store timeout and a second");
    };
    consumer.build().unwrap().run_until(others).await.unwrap();

    let error = client.resolve(rig.receive_plain().await.remove(0)).await.body().unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true));
    assert_eq!(error.pointer(), Some(&bad));
    assert!(error.to_string().contains("did not load within 121s (see store_timeout)"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn large_payloads_are_each_handled_once_although_they_exceed_the_memory_budget_together() {
    let rig = Rig::new().await;
    for number in 0..10 {
        rig.send(large(&number.to_string())).await;
    }
    rig.plain.create_queue().queue_name("dead").send().await.unwrap();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":"3"}"#;
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    set.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(20));
    let client = ExtendedClient::builder(rig.base.clone(), slow.store.clone()).memory_budget(600_000);
    let (client, handled) = (client.build().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&handled);
    let consumer = Consumer::builder(client, &rig.url).message_handler(move |message, _| {
        assert_eq!(message.body().map(str::len), Some(262_145));
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(Outcome::Ack) }
    });
    let emptied = async {
        while !rig.bodies().is_empty() {
            sleep(Duration::from_secs(1)).await;
        }
    };
    let report = consumer.build().unwrap().run_until(emptied).await.unwrap();
    assert_eq!((handled.load(Ordering::Relaxed), report.stats.received), (10, 10));
    assert!(slow.most.load(Ordering::Relaxed) <= 2 && rig.server.queue("dead").bodies().is_empty());
}
