//! Run with: `cargo run --example explore`
//!
//! Three workers that pass their tests and fail in production. Each runs under up to 200 schedules of what SQS, the network and
//! the machine may do; the smallest schedule that breaks it shows the mistake. The mended workers pass all schedules.

use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqs_client::Client;
use sqs_client::types::{Message, QueueAttributeName};
use sqs_mock_server::explore::{Broken, Explore, Explored, Fenced, Ledger, NotAsExpected, Process};

const HELP: &str = "\
Runs workers under many schedules of faults, crashes and duplicates, and shows the smallest one that breaks each.";

type Worked = Result<(), Box<dyn Error + Send + Sync>>;

const ORDERS: std::ops::Range<u32> = 0..10;

fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    println!("1. A worker deletes the message, and then charges the order.");
    breaks(explored("orders", delete_first, Ledger::expect_each))?;
    println!("Mended: it charges, and then deletes.");
    passes(explored("orders", charge_first, Ledger::expect_each))?;

    println!("\n2. To charge no order twice, a worker remembers the order, and then charges it.");
    breaks(explored("orders", remember_first, Ledger::expect_each))?;
    println!("Mended: it remembers what it has charged.");
    passes(explored("orders", remember_last, Ledger::expect_each))?;

    println!("\n3. A worker of a FIFO queue goes on with the next order after one has failed.");
    breaks(explored("orders.fifo", go_on, Ledger::expect_order))?;
    println!("Mended: it leaves the rest of the group to a later receive.");
    passes(explored("orders.fifo", stop_at_failure, Ledger::expect_order))
}

/// Runs a worker on a queue with ten orders, under 200 schedules or until one breaks it.
fn explored<W: Future<Output = Worked> + Send + 'static>(
    queue: &'static str,
    worker: fn(Worker) -> W,
    expect: fn(&Ledger, std::ops::Range<u32>) -> Result<(), NotAsExpected>,
) -> Result<Explored, Box<Broken>> {
    Explore::new().schedules(200).check(|run| async move {
        let client = run.client();
        let create = client.create_queue().queue_name(queue);
        let is_fifo = queue.ends_with(".fifo");
        let fifo = is_fifo.then(|| {
            let names = [QueueAttributeName::FifoQueue, QueueAttributeName::ContentBasedDeduplication];
            names.map(|name| (name, "true".to_owned())).into()
        });
        let url = create.set_attributes(fifo).send().await?.queue_url.ok_or("no queue")?;
        let (charged, remembered) = (Ledger::default(), Remembered::default());
        // A schedule may kill this process and start it again. What is fenced refuses after a kill.
        run.process("worker", {
            let (url, charged) = (url.clone(), charged.clone());
            move |process| {
                let (client, url) = (process.client(), url.clone());
                let (charged, remembered) = (process.fenced(&charged), process.fenced(&remembered));
                worker(Worker { process, client, url, charged, remembered })
            }
        });
        for order in ORDERS {
            let send = client.send_message().queue_url(&url).message_body(order.to_string());
            send.set_message_group_id(is_fifo.then(|| "table-4".to_owned())).send().await?;
        }
        // Until all queues are empty, or an hour is over; both take milliseconds.
        run.until_quiet().await;
        Ok::<_, Box<dyn Error>>(expect(&charged, ORDERS)?)
    })
}

fn breaks(result: Result<Explored, Box<Broken>>) -> Result<(), Box<dyn Error>> {
    let Err(broken) = result else { return Err("no schedule breaks the worker".into()) };
    println!("{broken}");
    Ok(())
}

fn passes(result: Result<Explored, Box<Broken>>) -> Result<(), Box<dyn Error>> {
    println!("{}", result?);
    Ok(())
}

/// The orders that are done, in a database that outlives the process.
type Remembered = Arc<Mutex<HashSet<String>>>;

/// One start of a worker.
struct Worker {
    process: Process,
    client: Client,
    url: String,
    charged: Fenced<Ledger>,
    remembered: Fenced<Remembered>,
}

impl Worker {
    /// The next messages. Errors of a receive are no reason to stop.
    async fn receive(&self) -> Vec<Message> {
        loop {
            let receive = self.client.receive_message().queue_url(&self.url).max_number_of_messages(10);
            match receive.wait_time_seconds(20).send().await.map(|output| output.messages.unwrap_or_default())
            {
                Ok(messages) if !messages.is_empty() => return messages,
                Ok(_) => {}
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Charges an order at the bank, whose answers a schedule disturbs, too.
    async fn charge(&self, order: &str) -> Worked {
        Ok(self.process.call("bank", "charge", async { self.charged.record(order) }).await??)
    }

    async fn delete(&self, message: &Message) -> Worked {
        let handle = message.receipt_handle().unwrap_or_default();
        Ok(self.client.delete_message().queue_url(&self.url).receipt_handle(handle).send().await.map(drop)?)
    }

    /// Returns whether it is new.
    fn remember(&self, order: &str) -> Result<bool, Box<dyn Error + Send + Sync>> {
        let mut orders = self.remembered.get()?.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(orders.insert(order.to_owned()))
    }

    fn remembers(&self, order: &str) -> Result<bool, Box<dyn Error + Send + Sync>> {
        let orders = self.remembered.get()?.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(orders.contains(order))
    }
}

async fn delete_first(worker: Worker) -> Worked {
    loop {
        for message in worker.receive().await {
            worker.delete(&message).await?;
            worker.charge(message.body().unwrap_or_default()).await?;
        }
    }
}

async fn charge_first(worker: Worker) -> Worked {
    loop {
        for message in worker.receive().await {
            worker.charge(message.body().unwrap_or_default()).await?;
            worker.delete(&message).await?;
        }
    }
}

async fn remember_first(worker: Worker) -> Worked {
    loop {
        for message in worker.receive().await {
            let order = message.body().unwrap_or_default();
            if worker.remember(order)? {
                worker.charge(order).await?;
            }
            worker.delete(&message).await?;
        }
    }
}

async fn remember_last(worker: Worker) -> Worked {
    loop {
        for message in worker.receive().await {
            let order = message.body().unwrap_or_default();
            if !worker.remembers(order)? {
                worker.charge(order).await?;
                worker.remember(order)?;
            }
            worker.delete(&message).await?;
        }
    }
}

async fn go_on(worker: Worker) -> Worked {
    loop {
        for message in worker.receive().await {
            if worker.charge(message.body().unwrap_or_default()).await.is_ok() {
                worker.delete(&message).await?;
            }
        }
    }
}

async fn stop_at_failure(worker: Worker) -> Worked {
    loop {
        for message in worker.receive().await {
            if worker.charge(message.body().unwrap_or_default()).await.is_err() {
                break;
            }
            worker.delete(&message).await?;
        }
    }
}
