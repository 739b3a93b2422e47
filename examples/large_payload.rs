//! Run with: `cargo run --release --example large_payload -- --mebibytes 256`
//!
//! Streams a payload far over the SQS message limit through S3, and receives it into a file. Memory use does not grow with
//! the size of the payload.

use std::error::Error;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use sha2::{Digest as _, Sha256};
use sqs_extended::{ExtendedClient, Payload, Progress, S3Store};

const HELP: &str = "\
Streams one message with a payload of any size through S3, and receives it into a file.

  --mebibytes COUNT   size of the payload (default: 256, maximum: 2047)
  --help              print this help

AWS_ENDPOINT_URL_S3 and BUCKET select another S3 server and a bucket.
An embedded server counts in the printed memory.";

const CHUNK: usize = 256 << 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some([mebibytes]) = sqs_examples::numbers(HELP, [("--mebibytes", 256)])? else { return Ok(()) };
    let (client, s3, bucket, _server) = sqs_examples::connect_with_s3().await?;
    let client = ExtendedClient::new(client, S3Store::new(s3, bucket));
    let created = client.create_queue().queue_name(sqs_examples::fresh("videos")).send().await?;
    let url = created.queue_url.unwrap_or_default();
    let total = mebibytes << 20;

    let start = now();
    let chunks = stream::iter((0..total / CHUNK).map(|number| Ok::<_, std::io::Error>(chunk(number))));
    let payload = Payload::from_stream(chunks).length(u64::try_from(total)?).binary();
    let sent = client.send_stream(&url, payload).progress(show_progress("sent", start)).send().await?;
    show_total("sent", sent.length, start.elapsed());
    println!("pointer    {}", sent.pointer);

    let path = std::env::temp_dir().join(sqs_examples::fresh("large_payload"));
    let messages = client.receive(&url).lazy().max_messages(1).send().await?;
    let received = messages.first().ok_or("the queue returned no message")?;
    let start = now();
    let body = received.body_stream().binary().progress(show_progress("received", start)).await?;
    let length = body.write_to_path(&path).await?;
    show_total("received", length, start.elapsed());

    // Deleting the message also deletes its payload.
    client.queue(&url).delete(&received.message).send().await?;
    let actual = hash_of_file(&path);
    std::fs::remove_file(&path)?;
    let (actual, expected) = (actual?, hash_of_chunks(total / CHUNK));
    println!("SHA-256    {actual}");
    if actual != expected {
        return Err(format!("the received payload has SHA-256 {actual}; expected {expected}").into());
    }
    match peak_memory() {
        Some(peak) => println!("memory     {} MiB at most", peak >> 20),
        None => println!("memory     unknown on this system"),
    }
    client.delete_queue().queue_url(&url).send().await?;
    Ok(())
}

/// A part of the payload. Its bytes depend on its number, so that the hash detects a wrong order.
fn chunk(number: usize) -> Bytes {
    let byte = u8::try_from(number % 251).unwrap_or_default();
    Bytes::from(vec![byte; CHUNK])
}

fn hash_of_chunks(count: usize) -> String {
    let mut hash = Sha256::new();
    (0..count).for_each(|number| hash.update(chunk(number)));
    hex(hash)
}

fn hash_of_file(path: &std::path::Path) -> std::io::Result<String> {
    let (mut file, mut hash) = (std::fs::File::open(path)?, Sha256::new());
    let mut buffer = vec![0; CHUNK];
    loop {
        match std::io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hex(hash)),
            read => hash.update(&buffer[..read]),
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Prints the progress on a terminal, at most ten times a second.
fn show_progress(label: &'static str, start: Instant) -> impl FnMut(Progress) + Send {
    let mut printed = Duration::ZERO;
    move |progress| {
        let elapsed = start.elapsed();
        if std::io::stdout().is_terminal() && elapsed >= printed + Duration::from_millis(100) {
            printed = elapsed;
            print!(
                "\r{label:<10} {} MiB of {} MiB ",
                progress.bytes >> 20,
                progress.total.unwrap_or_default() >> 20
            );
            // An error means that standard output is closed.
            let _ = std::io::stdout().flush();
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
fn show_total(label: &str, bytes: u64, took: Duration) {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    let rate = mebibytes / took.as_secs_f64();
    println!("\r\x1b[K{label:<10} {mebibytes:.0} MiB in {:.2} s, {rate:.0} MiB/s", took.as_secs_f64());
}

/// The peak memory of this process, from `/proc` of Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}
