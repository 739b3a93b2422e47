//! Tests under hundreds of schedules: planted bugs are found and made small, and code without them passes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_client::Client;
use sqs_client::operation::Action;
use sqs_client::types::{
    Message, MessageSystemAttributeName, QueueAttributeName, SendMessageBatchRequestEntry,
};
use sqs_mock_server::explore::{
    Broken, Decision, Disturbance, Explore, Fenced, Ledger, Process, Run, SchedulePlan,
};
use sqs_mock_server::faults::Fault;

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
    let schedule =
        r#"{"seed":42,"rate":0.5,"kinds":["lose_response","throttle","jump"],"undisturbed":["test"]}"#;
    let answer = wire.exchange("POST /_mock/schedule", "", schedule.as_bytes()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let credentials =
        sqs_client::config::Credentials::new("worker", "secret", None, None, "another way to reach it");
    let config = server.client_config().credentials_provider(credentials).build();
    send_some(&Client::from_conf(config), &url).await;
    send_some(&server.client(), &url).await;
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

/// Runs a script as a process, under one plan. Three messages are in the queue, in one group if it is FIFO.
fn scripted<F>(
    plan: &str,
    script: impl Fn(Process, String, Fenced<Ledger>) -> F + Clone + Send + 'static,
) -> Vec<String>
where
    F: Future<Output = Tested> + Send + 'static,
{
    let recorded = RefCell::new(Vec::new());
    let plan: SchedulePlan = plan.parse().unwrap();
    Explore::new().replay(plan.clone()).run(|run| {
        let (script, recorded, plan) = (script.clone(), &recorded, &plan);
        async move {
            let url = create(&run, "orders").await.unwrap();
            for order in 0..3 {
                run.client()
                    .send_message()
                    .queue_url(&url)
                    .message_body(order.to_string())
                    .send()
                    .await
                    .unwrap();
            }
            let ledger = Ledger::default();
            run.process("worker", {
                let ledger = ledger.clone();
                move |process| {
                    let ledger = process.fenced(&ledger);
                    script(process, url.clone(), ledger)
                }
            });
            tokio::time::sleep(Duration::from_secs(300)).await;
            assert_eq!(&run.decisions(), plan, "the plan took place");
            recorded.replace(ledger.recorded());
        }
    });
    recorded.into_inner()
}

/// Receives at once, a second later, and after the visibility timeout.
async fn receives(process: Process, url: String, ledger: Fenced<Ledger>) -> Tested {
    let client = process.client();
    for pause in [1, 40, 0] {
        let received = client.receive_message().queue_url(&url).max_number_of_messages(10).send().await?;
        let bodies: Vec<_> = received.messages().iter().map(|one| one.body().unwrap()).collect();
        ledger.record(bodies.concat())?;
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
    Ok(())
}

#[test]
fn disturbances_of_a_receive_do_what_they_say() {
    let sorted = |body: &String| {
        let mut chars: Vec<_> = body.chars().collect();
        chars.sort_unstable();
        chars.into_iter().collect::<String>()
    };
    let undisturbed = scripted("", receives);
    assert_eq!(undisturbed.iter().map(sorted).collect::<Vec<_>>(), ["012", "", "012"]);
    let disturbed = |effect: &str| scripted(&format!("worker ReceiveMessage orders #1: {effect}"), receives);
    assert_eq!(disturbed("reorder")[0], undisturbed[0].chars().rev().collect::<String>());
    for (effect, expected) in [
        ("miss", ["", "012", "012"]),
        ("repeat", ["012", "012", "012"]),
        ("end_lease", ["012", "012", "012"]),
        ("jump", ["012", "012", "012"]),
        ("lose_request", ["012", "", "012"]),
    ] {
        let found = disturbed(effect);
        assert_eq!(found.iter().map(sorted).collect::<Vec<_>>(), expected, "{effect}");
    }
    let fewer = disturbed("fewer");
    assert_eq!((fewer[0].len(), fewer[1].len()), (1, 2), "{fewer:?}");
    // The client asks again, for messages that are in flight.
    assert_eq!(disturbed("lose_response")[0], "");
}

/// Sends an order, and says how many there are, how long it took, and which start of the process it was.
async fn sends(process: Process, url: String, ledger: Fenced<Ledger>) -> Tested {
    let client = process.client();
    let start = tokio::time::Instant::now();
    if process.starts() == 1 {
        client.send_message().queue_url(&url).message_body("3").send().await?;
    }
    let names = QueueAttributeName::ApproximateNumberOfMessages;
    let counts = client.get_queue_attributes().queue_url(&url).attribute_names(names.clone()).send().await?;
    let count = counts.attributes.unwrap().remove(&names).unwrap();
    ledger.record(format!("{count} after {} s, start {}", start.elapsed().as_secs(), process.starts()))?;
    Ok(())
}

#[test]
fn disturbances_of_a_send_do_what_they_say() {
    for (effect, expected) in [
        ("lose_request", "4 after 0 s, start 1"),
        ("lose_response", "5 after 0 s, start 1"),
        ("throttle", "4 after 0 s, start 1"),
        ("server_error", "4 after 0 s, start 1"),
        ("slow", "4 after 2 s, start 1"),
        ("jump", "4 after 0 s, start 1"),
        ("kill_before", "3 after 0 s, start 2"),
        ("kill_after", "4 after 0 s, start 2"),
    ] {
        assert_eq!(
            scripted(&format!("worker SendMessage orders #1: {effect}"), sends),
            [expected],
            "{effect}"
        );
    }
}

#[test]
fn one_entry_of_a_batch_fails() {
    let batch = |process: Process, url: String, ledger: Fenced<Ledger>| async move {
        let entry = |id: &str| {
            SendMessageBatchRequestEntry::builder().id(id).message_body(id).build().map_err(Box::new)
        };
        let sent = process.client().send_message_batch().queue_url(url).entries(entry("a")?);
        let sent = sent.entries(entry("b")?).send().await?;
        ledger.record(format!("{} sent, {} failed", sent.successful().len(), sent.failed().len()))?;
        Ok(())
    };
    let recorded = scripted("worker SendMessageBatch orders #1: fail_entry", batch);
    assert_eq!(recorded, ["1 sent, 1 failed"]);
}

#[test]
fn disturbances_of_another_service_do_what_they_say() {
    let charges = |process: Process, _, ledger: Fenced<Ledger>| async move {
        if process.starts() > 1 {
            return Ok(());
        }
        let start = tokio::time::Instant::now();
        process.call("bank", "charge", async { ledger.record("charged") }).await??;
        ledger.record(format!("told after {} s", start.elapsed().as_secs()))?;
        Ok(())
    };
    for (effect, expected) in [
        ("lose_request", &[][..]),
        ("server_error", &[]),
        ("kill_before", &[]),
        ("lose_response", &["charged"]),
        ("kill_after", &["charged"]),
        ("slow", &["charged", "told after 2 s"]),
        ("jump", &["charged", "told after 0 s"]),
    ] {
        assert_eq!(scripted(&format!("worker charge bank #1: {effect}"), charges), expected, "{effect}");
    }
}

/// A receive that waits takes its messages before its process is killed.
#[test]
fn process_is_killed_after_a_receive_that_waits() {
    let script = |process: Process, url: String, ledger: Fenced<Ledger>| async move {
        let client = process.client();
        let receive = || client.receive_message().queue_url(&url).max_number_of_messages(10);
        if process.starts() == 1 {
            receive().send().await?;
            receive().visibility_timeout(100).wait_time_seconds(20).send().await?;
        } else {
            let received = receive().send().await?;
            ledger.record(received.messages().len())?;
        }
        Ok(())
    };
    // The messages of the first receive are visible again, and the second, which waits, takes them: the plan jumps.
    let plan = "worker ReceiveMessage orders #1: jump; worker ReceiveMessage orders #2: kill_after";
    assert_eq!(scripted(plan, script), ["0"]);
}

#[test]
fn process_that_never_waits_ends_the_run() {
    async fn worker(process: Process, url: String) -> Tested {
        let client = process.client();
        loop {
            client.receive_message().queue_url(&url).send().await?;
        }
    }
    let explore = Explore::new().schedules(1);
    let broken = explore.check(|run| async move {
        let url = create(&run, "orders").await?;
        place(&run, &url).await?;
        run.process("worker", move |process| worker(process, url.clone()));
        run.until_quiet().await;
        Ok::<_, sqs_client::Error>(())
    });
    let failure = broken.unwrap_err().failure;
    assert!(failure.starts_with("the run has more than 20000 calls; does a process receive"), "{failure}");
}

/// A task that a process has spawned goes on after a kill, and its loop ignores errors.
#[test]
fn loop_that_ignores_refusals_does_not_stop_the_clock() {
    let script = |process: Process, _, ledger: Fenced<Ledger>| async move {
        if process.starts() == 1 {
            while process.call("bank", "charge", async {}).await.is_err() {}
        }
        ledger.record("goes on")?;
        Ok(())
    };
    assert_eq!(scripted("worker charge bank #1: kill_before", script), ["goes on"]);
}

/// A fault of the test changes nothing about the numbers of calls.
#[test]
fn calls_that_a_fault_refuses_count() {
    let counts = RefCell::new(Vec::new());
    let plan: SchedulePlan = "order-worker SendMessage orders #2: kill_after".parse().unwrap();
    Explore::new().replay(plan).run(|run| {
        let counts = &counts;
        async move {
            let url = create(&run, "orders").await.unwrap();
            let throttled = Fault::throttle().on(Action::SendMessage).times(1);
            run.server().faults().inject(throttled);
            run.process("order-worker", move |process| {
                let url = url.clone();
                async move {
                    if process.starts() == 1 {
                        process.client().send_message().queue_url(url).message_body("tea").send().await?;
                    }
                    Ok::<_, sqs_client::Error>(())
                }
            });
            tokio::time::sleep(Duration::from_secs(60)).await;
            counts.replace(run.server().queue("orders").bodies());
            let trace = run.trace();
            assert!(trace.contains("order-worker  is killed"), "{trace}");
        }
    });
    assert_eq!(counts.into_inner(), ["tea"]);
}

#[test]
fn panic_before_the_future_of_a_process_is_the_failure() {
    let explore = Explore::new();
    let broken = explore.check(|run| async move {
        run.process("worker", |process| {
            assert!(process.starts() > 1, "out of ink");
            async {}
        });
        tokio::time::sleep(Duration::from_secs(100_000)).await;
    });
    let failure = broken.unwrap_err().failure;
    assert!(failure.starts_with("process worker panicked: out of ink at "), "{failure}");
}

#[test]
fn test_without_a_process_is_told_so() {
    let broken = Explore::new().check(|run| async move { run.until_quiet().await }).unwrap_err();
    assert!(broken.failure.starts_with("no process made a call that can be disturbed"), "{broken}");
}

#[test]
#[should_panic(expected = "\"test\" is taken; allowed is a name that no other process has, nor the test")]
fn process_has_a_name_of_its_own() {
    Explore::new().run(|run| async move { run.process("test", |_| async {}) });
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
    let text = "process worker panicked: out of paper at sqs-mock-server/tests/it/explore.rs:";
    assert!(broken.failure.starts_with(text), "{broken}");
}
