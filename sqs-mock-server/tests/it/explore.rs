//! Tests under hundreds of schedules: planted bugs are found and made small, and code without them passes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_client::Client;
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use sqs_mock_server::explore::{Broken, Disturbance, Explore, Fenced, Ledger, Process, Run};

type Tested = Result<(), Box<dyn Error + Send + Sync>>;

const ORDERS: std::ops::Range<u32> = 0..10;

async fn create(run: &Run, name: &str) -> Result<String, sqs_client::Error> {
    let create = run.client().create_queue().queue_name(name);
    let create = if name.ends_with(".fifo") {
        create
            .attributes(QueueAttributeName::FifoQueue, "true")
            .attributes(QueueAttributeName::ContentBasedDeduplication, "true")
    } else {
        create
    };
    Ok(create.send().await?.queue_url.unwrap())
}

async fn place(run: &Run, url: &str) -> Result<(), sqs_client::Error> {
    for order in ORDERS {
        let send = run.client().send_message().queue_url(url).message_body(order.to_string());
        let send = if url.ends_with(".fifo") { send.message_group_id("g") } else { send };
        send.send().await?;
    }
    Ok(())
}

/// Receives for ever, through the errors of single receives.
async fn receive(client: &Client, url: &str) -> Vec<Message> {
    loop {
        let receive =
            client.receive_message().queue_url(url).max_number_of_messages(10).wait_time_seconds(20);
        let receive = receive.message_system_attribute_names(MessageSystemAttributeName::MessageGroupId);
        match receive.send().await {
            Ok(output) if !output.messages().is_empty() => return output.messages.unwrap_or_default(),
            Ok(_) => {}
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn delete(client: &Client, url: &str, message: &Message) -> Result<(), sqs_client::Error> {
    let handle = message.receipt_handle().unwrap();
    client.delete_message().queue_url(url).receipt_handle(handle).send().await.map(drop)
}

/// Runs a worker on a queue, under 200 schedules.
fn explored<F>(
    queue: &'static str,
    worker: impl Fn(Process, String, Fenced<Ledger>) -> F + Clone + Send + 'static,
    check: impl Fn(&Ledger) -> Tested + Copy,
) -> Result<sqs_mock_server::explore::Explored, Box<Broken>>
where
    F: Future<Output = Tested> + Send + 'static,
{
    Explore::new().schedules(200).check(|run| {
        let worker = worker.clone();
        async move {
            let url = create(&run, queue).await?;
            let ledger = Ledger::default();
            run.process("worker", {
                let (ledger, url) = (ledger.clone(), url.clone());
                move |process| {
                    let ledger = process.fenced(&ledger);
                    worker(process, url.clone(), ledger)
                }
            });
            place(&run, &url).await?;
            run.until_quiet().await;
            check(&ledger)
        }
    })
}

fn small(broken: &Broken) {
    println!("{broken}");
    let decisions = &broken.plan.decisions;
    assert!((1..=3).contains(&decisions.len()), "{broken}");
    assert!(broken.is_repeatable && broken.is_minimal, "{broken}");
}

fn each_at_least_once(ledger: &Ledger) -> Tested {
    Ok(ledger.expect_each(ORDERS)?)
}

/// Acknowledges before it acts: a crash in between loses the message.
async fn acknowledges_first(process: Process, url: String, ledger: Fenced<Ledger>) -> Tested {
    let client = process.client();
    loop {
        for message in receive(&client, &url).await {
            delete(&client, &url, &message).await?;
            tokio::time::sleep(Duration::from_millis(10)).await;
            ledger.record(message.body().unwrap())?;
        }
    }
}

#[test]
fn worker_that_acknowledges_before_it_acts_is_found() {
    let broken = explored("orders", acknowledges_first, each_at_least_once).unwrap_err();
    small(&broken);
    assert!(broken.failure.contains("never happened"), "{broken}");
}

/// Remembers a message as done before it acts: if the effect fails, its next delivery counts as a duplicate.
async fn remembers_first(process: Process, url: String, ledger: Fenced<Ledger>, done: Done) -> Tested {
    let client = process.client();
    let done = process.fenced(&done);
    loop {
        for message in receive(&client, &url).await {
            let body = message.body().unwrap().to_owned();
            let is_new = done.get()?.lock().unwrap().insert(body.clone());
            if is_new && process.call("bank", "charge", async { ledger.record(&body) }).await.is_err() {
                continue;
            }
            delete(&client, &url, &message).await?;
        }
    }
}

type Done = Arc<Mutex<HashSet<String>>>;

#[test]
fn store_that_remembers_before_the_effect_is_found() {
    thread_local! {
        // It outlives the process, and is new in each run.
        static DONE: RefCell<Done> = RefCell::default();
    }
    let worker = |process: Process, url, ledger| {
        if process.starts() == 1 {
            DONE.replace(Done::default());
        }
        remembers_first(process, url, ledger, DONE.with_borrow(Arc::clone))
    };
    let broken = explored("orders", worker, each_at_least_once).unwrap_err();
    small(&broken);
}

/// Goes on with the next message of a group after one has failed.
async fn goes_on(process: Process, url: String, ledger: Fenced<Ledger>) -> Tested {
    let client = process.client();
    loop {
        for message in receive(&client, &url).await {
            let body = message.body().unwrap();
            if process.call("bank", "charge", async { ledger.record(body) }).await.is_ok() {
                delete(&client, &url, &message).await?;
            }
        }
    }
}

#[test]
fn fifo_worker_that_goes_on_after_a_failure_is_found() {
    let in_order = |ledger: &Ledger| Ok(ledger.expect_order(ORDERS)?);
    let broken = explored("orders.fifo", goes_on, in_order).unwrap_err();
    small(&broken);
    assert!(broken.failure.contains("happened before"), "{broken}");
}

/// Acts, then acknowledges: each message at least once, whatever happens.
async fn acknowledges_last(process: Process, url: String, ledger: Fenced<Ledger>) -> Tested {
    let client = process.client();
    loop {
        for message in receive(&client, &url).await {
            ledger.record(message.body().unwrap())?;
            delete(&client, &url, &message).await?;
        }
    }
}

#[test]
fn worker_that_acts_first_passes() {
    let explored =
        explored("orders", acknowledges_last, each_at_least_once).unwrap_or_else(|broken| panic!("{broken}"));
    println!("{explored}");
    assert_eq!(explored.schedules, 200);
    assert!(explored.interleavings > 100, "{explored}");
    let all = [
        Disturbance::LoseResponse,
        Disturbance::KillAfter,
        Disturbance::Repeat,
        Disturbance::EndLease,
        Disturbance::Jump,
    ];
    assert!(all.iter().all(|kind| explored.decisions.contains_key(kind)), "{explored}");
}

/// X1: the same seed does the same, also what clients and ids do.
#[test]
fn run_is_repeated_exactly() {
    let trial = || {
        let once = |ledger: &Ledger| Ok(ledger.expect_each_once(ORDERS)?);
        explored("orders", acknowledges_last, once).unwrap_err().to_string()
    };
    assert_eq!(trial(), trial());
}

#[test]
fn failure_without_a_disturbance_is_told_so() {
    let broken = explored("orders", acknowledges_last, |_| Err("always".into())).unwrap_err();
    assert!(broken.to_string().starts_with("the test fails without any disturbance: always"), "{broken}");
    assert!(broken.plan.decisions.is_empty());
}

#[test]
fn panic_of_a_process_is_the_failure() {
    let worker = |_, _, _| async { panic!("out of paper") };
    let broken = explored("orders", worker, |_| Ok(())).unwrap_err();
    assert!(broken.failure.contains("process worker panicked: out of paper"), "{broken}");
}
