//! A producer and a consumer under schedules of lost responses, killed processes, leases that end early and more.
//!
//! `SCHEDULES=10000 cargo test --release -p sqs-buffered --all-features --test it explored` is the long run.

use std::cell::RefCell;
use std::error::Error;
use std::time::Duration;

use sqs_buffered::{BackOff, BufferedClient, Consumer, Entry, Outcome};
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::explore::{Explore, Explored, Fenced, Ledger, Process, Run};

use super::rig::number;

type Tested = Result<(), Box<dyn Error + Send + Sync>>;

const ORDERS: u32 = 30;

/// The groups of a FIFO queue. Each order belongs to one.
const GROUPS: u32 = 3;

fn is_fifo(url: &str) -> bool {
    url.ends_with(".fifo")
}

/// Sends all orders. After a kill or a failure, it begins with the first one that it does not know to be sent.
async fn produce(process: Process, url: String, sent: Fenced<Ledger>) -> Tested {
    let client = BufferedClient::builder(process.client()).build()?;
    let known = sent.get()?.recorded();
    let mut tickets = Vec::new();
    for order in (0..ORDERS).filter(|order| !known.contains(&order.to_string())) {
        let entry = Entry::new(&url, order.to_string());
        let entry = if is_fifo(&url) {
            entry.message_group_id((order % GROUPS).to_string()).message_deduplication_id(order.to_string())
        } else {
            entry
        };
        tickets.push((order, client.enqueue(entry).await?));
    }
    let mut failed = None;
    for (order, ticket) in tickets {
        match ticket.await {
            Ok(_) => sent.record(order)?,
            Err(error) => failed = Some(error),
        }
    }
    client.close_within(Duration::from_secs(10)).await;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// Handles orders for ever. A handler fails when the bank does.
async fn consume(process: Process, url: String, done: Fenced<Ledger>) -> Tested {
    let bank = process.clone();
    let consumer = Consumer::builder(process.client(), &url)
        .concurrency(4)
        .prefetch(4)
        .back_off(BackOff::Fixed(Duration::from_secs(1)))
        .message_handler(move |message, _| {
            let (bank, done) = (bank.clone(), done.clone());
            async move {
                let order = message.body().unwrap_or_default().to_owned();
                tokio::time::sleep(Duration::from_millis(50)).await;
                bank.call("bank", "charge", async { done.record(&order) }).await??;
                Ok(Outcome::Ack)
            }
        })
        .build()?;
    consumer.run_until(std::future::pending::<()>()).await?;
    Ok(())
}

async fn create(run: &Run, name: &str) -> Result<String, Box<dyn Error>> {
    let create = run.client().create_queue().queue_name(name);
    let fifo = name.ends_with(".fifo").then(|| [(QueueAttributeName::FifoQueue, "true".to_owned())].into());
    Ok(create.set_attributes(fifo).send().await?.queue_url.ok_or("no queue")?)
}

/// Each order is sent and handled, in the order of its group.
async fn test(run: Run, queue: &str) -> Result<(), Box<dyn Error>> {
    let url = create(&run, queue).await?;
    let (sent, done) = (Ledger::default(), Ledger::default());
    run.process("consumer", {
        let (url, done) = (url.clone(), done.clone());
        move |process| {
            let done = process.fenced(&done);
            consume(process, url.clone(), done)
        }
    });
    run.process("producer", {
        let (url, sent) = (url.clone(), sent.clone());
        move |process| {
            let sent = process.fenced(&sent);
            produce(process, url.clone(), sent)
        }
    });
    // The producer may be down for a while, and the queue empty meanwhile.
    for _ in 0..100 {
        run.until_quiet().await;
        if sent.expect_each(0..ORDERS).is_ok() {
            break;
        }
    }
    sent.expect_each(0..ORDERS)?;
    done.expect_each(0..ORDERS)?;
    if is_fifo(&url) {
        for group in 0..GROUPS {
            let of_group: Vec<_> = done
                .recorded()
                .into_iter()
                .filter(|order| order.parse::<u32>().is_ok_and(|order| order % GROUPS == group))
                .collect();
            let ledger = Ledger::default();
            for order in &of_group {
                ledger.record(order);
            }
            ledger.expect_order((0..ORDERS).filter(|order| order % GROUPS == group))?;
        }
    }
    Ok(())
}

fn explored(queue: &'static str) -> Explored {
    let schedules = u32::try_from(number("SCHEDULES").unwrap_or(60)).unwrap();
    let result = Explore::new().schedules(schedules).check(|run| test(run, queue));
    let explored = result.unwrap_or_else(|broken| panic!("{broken}"));
    println!("{queue}: {explored}");
    explored
}

#[test]
fn seed_repeats_a_run_of_producer_and_consumer_exactly() {
    let trace = |queue: &'static str| {
        let all = RefCell::new(Vec::new());
        let explore = Explore::new().schedules(20).seed(6).rate(0.2);
        explore.run(|run| {
            let all = &all;
            async move {
                let result = test(run.clone(), queue).await;
                all.borrow_mut().push(format!("{}\n{}", run.decisions(), run.trace()));
                result
            }
        });
        all.into_inner().concat()
    };
    for queue in ["orders", "orders.fifo"] {
        let first = trace(queue);
        assert!(first.lines().count() > 100 && first.contains("<- #"), "{first}");
        assert_eq!(trace(queue), first);
    }
}

#[test]
fn each_order_is_handled_under_every_schedule() {
    let explored = explored("orders");
    assert!(explored.interleavings * 10 > usize::try_from(explored.schedules).unwrap() * 9, "{explored}");
}

#[test]
fn orders_of_a_group_are_handled_in_order_under_every_schedule() {
    explored("orders.fifo");
}
