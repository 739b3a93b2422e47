//! Large payloads under schedules of lost responses, killed processes, repeated messages and a store that fails.
//!
//! `SCHEDULES=2000 cargo test --release -p sqs-extended --all-features --test it explored` is the long run.

use std::ops::Range;
use std::time::Duration;

use sqs_client::types::Message;
use sqs_extended::{
    Error, ErrorKind, ExtendedClient, MemoryStore, Object, PayloadStore, Pointer, StoreFuture, Upload,
};
use sqs_mock_server::explore::{Disturbed, Explore, Fenced, Ledger, Process};

type Tested = Result<(), Box<dyn std::error::Error + Send + Sync>>;

const ORDERS: u32 = 6;

/// The length of a body, over the limit of SQS.
const LENGTH: usize = 1_100_000;

/// A store whose calls a schedule disturbs.
struct Explored {
    inner: MemoryStore,
    process: Process,
}

fn unavailable(disturbed: &Disturbed) -> Error {
    // The call may have been made: the schedule does not say.
    Error::new(ErrorKind::Unavailable, disturbed.to_string()).outcome_unknown()
}

impl Explored {
    async fn call<T>(&self, action: &str, work: StoreFuture<'_, T>) -> Result<T, Error> {
        self.process.call("store", action, work).await.map_err(|disturbed| unavailable(&disturbed))?
    }
}

impl PayloadStore for Explored {
    fn bucket(&self) -> &str {
        self.inner.bucket()
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(self.call("put", self.inner.put(at, upload)))
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(self.call("get", self.inner.get(at, range, tag)))
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(self.call("delete", self.inner.delete(at)))
    }
}

fn body(order: u32) -> String {
    format!("{order} {}", "x".repeat(LENGTH))
}

/// Sends the orders that it does not know to be sent.
async fn produce(process: Process, url: String, store: MemoryStore, sent: Fenced<Ledger>) -> Tested {
    let client = ExtendedClient::new(process.client(), Explored { inner: store, process: process.clone() });
    let known = sent.get()?.recorded();
    for order in (0..ORDERS).filter(|order| !known.contains(&order.to_string())) {
        client.send_message().queue_url(&url).message_body(body(order)).send().await?;
        sent.record(order)?;
    }
    Ok(())
}

/// Handles orders for ever. What cannot be received now is received later.
async fn consume(process: Process, url: String, store: MemoryStore, done: Fenced<Ledger>) -> Tested {
    let client = ExtendedClient::new(process.client(), Explored { inner: store, process: process.clone() });
    loop {
        let receive =
            client.receive_message().queue_url(&url).max_number_of_messages(10).wait_time_seconds(20);
        let Ok(received) = receive.send().await else {
            tokio::time::sleep(Duration::from_secs(1)).await;
            continue;
        };
        for message in received.messages.unwrap_or_default() {
            done.record(order(&message)?)?;
            let delete = client.delete_message().queue_url(&url);
            // After an error, it comes again.
            let _ = delete.receipt_handle(message.receipt_handle().unwrap_or_default()).send().await;
        }
    }
}

/// The order of a message whose body is whole.
fn order(message: &Message) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    let text = message.body().unwrap_or_default();
    let order = text.split(' ').next().unwrap_or_default().parse()?;
    if text == body(order) { Ok(order) } else { Err("the body is damaged".into()) }
}

#[test]
fn each_large_message_is_handled_whole_under_every_schedule() {
    let schedules = std::env::var("SCHEDULES").ok().and_then(|number| number.parse().ok()).unwrap_or(40);
    let result = Explore::new().schedules(schedules).check(|run| async move {
        let url = run.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
        let (sent, done, store) = (Ledger::default(), Ledger::default(), MemoryStore::new("payloads"));
        run.process("consumer", {
            let (url, done, store) = (url.clone(), done.clone(), store.clone());
            move |process| {
                let done = process.fenced(&done);
                consume(process, url.clone(), store.clone(), done)
            }
        });
        run.process("producer", {
            let (url, sent) = (url.clone(), sent.clone());
            move |process| {
                let sent = process.fenced(&sent);
                produce(process, url.clone(), store.clone(), sent)
            }
        });
        for _ in 0..100 {
            run.until_quiet().await;
            if sent.expect_each(0..ORDERS).is_ok() {
                break;
            }
        }
        sent.expect_each(0..ORDERS)?;
        Ok::<_, Box<dyn std::error::Error>>(done.expect_each(0..ORDERS)?)
    });
    let explored = result.unwrap_or_else(|broken| panic!("{broken}"));
    println!("{explored}");
}
