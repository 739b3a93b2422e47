//! Run with: `cargo bench -p sqs-buffered --bench groups`
//!
//! Measures many message groups on a FIFO queue that does not respond: the cost of an entry, the cost of its timeout, and how
//! long other calls wait for the lock of the lane while entries time out.

use std::process::ExitCode;
use std::time::Duration;

use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use sqs_benchmarks::process::{Cpu, now};
use sqs_buffered::{BufferedClient, Entry};
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

const HELP: &str = "\
Enqueues one message per group on a FIFO queue that does not respond, and lets all messages time out.

  --groups LIST    numbers of message groups (default: 1000,10000,100000)
  --help           print this help

The table goes to standard output. Its last column is the longest call of try_enqueue while the entries time out.";

/// Delivery timeout of the entries.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Start of the measurement, before the timeout.
const SLACK: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(mut arguments: Arguments) -> Result<(), BoxError> {
    let mut numbers = vec![1_000, 10_000, 100_000];
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--groups" => numbers = arguments.numbers(1..=1_000_000)?,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    println!("| Groups | Enqueue, us | CPU per timeout, us | Longest enqueue during timeouts, us |");
    println!("|--:|--:|--:|--:|");
    for groups in numbers {
        runtime.block_on(measure(groups))?;
    }
    Ok(())
}

async fn measure(groups: usize) -> Result<(), BoxError> {
    let server = MockSqs::in_process();
    let client = server.client();
    let create = client.create_queue().queue_name("jobs.fifo").attributes("FifoQueue".into(), "true");
    let url = create.send().await?.queue_url.ok_or("the response has no queue URL")?;
    let buffered = BufferedClient::builder(client)
        .capacity(groups * 2 + 10_000, 1 << 30)
        .delivery_timeout(TIMEOUT)
        .build()?;
    let entry = |group: usize| {
        Entry::new(&url, "x").message_group_id(group.to_string()).message_deduplication_id("x")
    };
    server.faults().inject(Fault::latency(Duration::from_hours(1)));

    let start = now();
    let mut last = None;
    for group in 0..groups {
        last = Some(buffered.try_enqueue(entry(group))?);
    }
    let enqueue = start.elapsed();
    if enqueue + SLACK >= TIMEOUT {
        return Err(
            format!("enqueueing {groups} groups took {enqueue:?}; allowed is less than {TIMEOUT:?}").into()
        );
    }

    tokio::time::sleep(TIMEOUT.saturating_sub(start.elapsed() + SLACK)).await;
    let (cpu, mut longest, mut additional) = (Cpu::of_this_process()?, Duration::ZERO, 0);
    let Some(mut last) = last else { return Ok(()) };
    while tokio::time::timeout(Duration::from_millis(1), &mut last).await.is_err() {
        let call = now();
        drop(buffered.try_enqueue(entry(groups + additional))?);
        longest = longest.max(call.elapsed());
        additional += 1;
    }
    let timeout = Cpu::of_this_process()?.since(cpu).total();
    buffered.close_within(Duration::ZERO).await;
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more digits")]
    let per_group = |time: Duration| time.as_secs_f64() * 1e6 / groups as f64;
    println!(
        "| {groups} | {:.2} | {:.2} | {:.0} |",
        per_group(enqueue),
        per_group(timeout),
        longest.as_secs_f64() * 1e6
    );
    Ok(())
}
