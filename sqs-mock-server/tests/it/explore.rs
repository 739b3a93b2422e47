//! Tests under hundreds of schedules: planted bugs are found and made small, and code without them passes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_client::Client;
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use sqs_mock_server::explore::{
    Broken, Decision, Disturbance, Explore, Fenced, Ledger, Process, Run, SchedulePlan,
};

use crate::wire::Wire;

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
    assert!(broken.runs.failed == broken.runs.of && broken.is_minimal, "{broken}");
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
    assert!(broken.failure.contains("was never recorded"), "{broken}");
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
    assert!(broken.failure.contains("was recorded before"), "{broken}");
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

/// Kinds that end no process and no call.
const HARMLESS: [Disturbance; 3] = [Disturbance::LoseResponse, Disturbance::Throttle, Disturbance::Jump];

/// Sends through a client, whatever comes of it.
async fn send_some(client: &Client, url: &str) {
    for order in ORDERS {
        let _ = client.send_message().queue_url(url).message_body(order.to_string()).send().await;
    }
}

/// X1: over HTTP, a seed makes the decisions that it makes in this process.
#[tokio::test]
async fn seed_decides_alike_over_http() {
    let in_process = std::thread::spawn(|| {
        let made = Arc::new(Mutex::new(Vec::new()));
        let explore = Explore::new().schedules(1).seed(41).rate(0.5).kinds(HARMLESS);
        explore.run(|run| {
            let made = Arc::clone(&made);
            async move {
                let url = create(&run, "orders").await.unwrap();
                let done = Arc::new(tokio::sync::Notify::new());
                run.process("worker", {
                    let done = Arc::clone(&done);
                    move |process| {
                        let (url, done) = (url.clone(), Arc::clone(&done));
                        async move {
                            send_some(&process.client(), &url).await;
                            done.notify_one();
                        }
                    }
                });
                done.notified().await;
                *made.lock().unwrap() = run.decisions().decisions;
            }
        });
        made.lock().unwrap().clone()
    });
    let in_process = in_process.join().unwrap();

    let server = sqs_mock_server::MockSqs::start().await;
    let url = server.client().create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
    let mut wire = Wire::connect(&server).await;
    let schedule = r#"{"seed":42,"rate":0.5,"kinds":["lose_response","throttle","jump"]}"#;
    let answer = wire.exchange("POST /_mock/schedule", "", schedule.as_bytes()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let credentials =
        sqs_client::config::Credentials::new("worker", "secret", None, None, "another way to reach it");
    let config = server.client_config().credentials_provider(credentials).build();
    send_some(&Client::from_conf(config), &url).await;
    let shown: serde_json::Value = serde_json::from_str(wire.get("/_mock/schedule").await.text()).unwrap();
    let over_http: Vec<Decision> = serde_json::from_value(shown["decisions"].clone()).unwrap();

    assert!(in_process.len() > 3, "{in_process:?}");
    assert_eq!(over_http, in_process);
}

/// X2: the plan and nothing else.
#[test]
fn replay_makes_the_decisions_of_the_plan_and_no_others() {
    let text = "worker DeleteMessage orders #2: kill_after; worker ReceiveMessage orders #3: slow";
    let plan: SchedulePlan = text.parse().unwrap();
    let runs = std::cell::Cell::new(0);
    Explore::new().replay(plan.clone()).run(|run| {
        runs.set(runs.get() + 1);
        let plan = plan.clone();
        async move {
            let url = create(&run, "orders").await?;
            let ledger = Ledger::default();
            run.process("worker", {
                let (ledger, url) = (ledger.clone(), url.clone());
                move |process| {
                    let ledger = process.fenced(&ledger);
                    acknowledges_last(process, url.clone(), ledger)
                }
            });
            place(&run, &url).await?;
            run.until_quiet().await;
            let made: HashSet<_> = run.decisions().decisions.into_iter().collect();
            assert_eq!(made, plan.decisions.into_iter().collect());
            each_at_least_once(&ledger)
        }
    });
    assert_eq!(runs.get(), 1);
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
