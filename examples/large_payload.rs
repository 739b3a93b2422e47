//! Run with: `cargo run --release --example large_payload -- --mebibytes 256`
//!
//! Sends a payload far over what a message may hold, straight from a generator through S3, and receives it into a file. It
//! is streamed both ways, so the memory that this takes does not grow with it.

use std::error::Error;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use sha2::{Digest as _, Sha256};
use sqs_extended::{ExtendedClient, Payload, Progress, S3Store};

const HELP: &str = "\
Sends one message with a payload of any size through S3, and receives it into a file.

  --mebibytes COUNT   how large it is, 256 by default, 2047 at most
  --help              this text

AWS_ENDPOINT_URL_SQS and AWS_ENDPOINT_URL_S3 choose servers, BUCKET the bucket; without them, servers are started within the
process, and what they do counts in the memory that is printed.";

const PIECE: usize = 256 << 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some([mebibytes]) = sqs_examples::numbers(HELP, [("--mebibytes", 256)])? else { return Ok(()) };
    let (client, s3, bucket, _server) = sqs_examples::connect_with_s3().await?;
    let client = ExtendedClient::new(client, S3Store::new(s3, bucket));
    let created = client.create_queue().queue_name(sqs_examples::fresh("videos")).send().await?;
    let url = created.queue_url.unwrap_or_default();
    let total = mebibytes << 20;

    let start = now();
    let pieces = stream::iter((0..total / PIECE).map(|number| Ok::<_, std::io::Error>(piece(number))));
    let payload = Payload::from_stream(pieces).length(u64::try_from(total)?).binary();
    let sent = client.send_stream(&url, payload).progress(bar("sent", start)).send().await?;
    done("sent", sent.length, start.elapsed());
    println!("           as {}", sent.pointer);

    let path = std::env::temp_dir().join(sqs_examples::fresh("large_payload"));
    let messages = client.receive(&url).lazy().max_messages(1).send().await?;
    let received = messages.first().ok_or("no message came")?;
    let start = now();
    let body = received.body_stream().binary().progress(bar("received", start)).await?;
    let length = body.write_to_path(&path).await?;
    done("received", length, start.elapsed());

    // The payload goes with its message.
    client.queue(&url).delete(&received.message).send().await?;
    let read = hash_of_file(&path);
    std::fs::remove_file(&path)?;
    let (read, made) = (read?, hash_of_pieces(total / PIECE));
    println!("SHA-256    {made}");
    if read != made {
        return Err(format!("what was received has another one: {read}").into());
    }
    match peak_memory() {
        Some(peak) => println!("memory     {} MiB at most", peak >> 20),
        None => println!("memory     not told by this system"),
    }
    client.delete_queue().queue_url(&url).send().await?;
    Ok(())
}

/// What the payload is made of.
fn piece(number: usize) -> Bytes {
    let mut bytes = vec![0; PIECE];
    for (place, chunk) in bytes.chunks_exact_mut(8).enumerate() {
        let word =
            u64::try_from(number * PIECE + place).unwrap_or_default().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes.into()
}

fn hash_of_pieces(count: usize) -> String {
    let mut hash = Sha256::new();
    (0..count).for_each(|number| hash.update(piece(number)));
    shown(hash)
}

fn hash_of_file(path: &std::path::Path) -> std::io::Result<String> {
    let (mut file, mut hash) = (std::fs::File::open(path)?, Sha256::new());
    let mut buffer = vec![0; PIECE];
    loop {
        match std::io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(shown(hash)),
            read => hash.update(&buffer[..read]),
        }
    }
}

fn shown(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Draws a bar, at most ten times a second.
fn bar(what: &'static str, start: Instant) -> impl FnMut(Progress) + Send {
    let mut drawn = Duration::ZERO;
    move |progress| {
        let total = progress.total.unwrap_or(progress.bytes).max(1);
        let took = start.elapsed();
        if !std::io::stdout().is_terminal()
            || (took < drawn + Duration::from_millis(100) && progress.bytes < total)
        {
            return;
        }
        drawn = took;
        let filled = usize::try_from(progress.bytes * 40 / total).unwrap_or(40);
        print!(
            "\r{what:<10} [{}{}] {} MiB ",
            "#".repeat(filled),
            "-".repeat(40 - filled.min(40)),
            progress.bytes >> 20
        );
        // Whoever closed standard output does not want to see it.
        let _ = std::io::stdout().flush();
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
fn done(what: &str, bytes: u64, took: Duration) {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    let rate = mebibytes / took.as_secs_f64();
    println!("\r\x1b[K{what:<10} {mebibytes:.0} MiB in {:.2} s, {rate:.0} MiB/s", took.as_secs_f64());
}

/// The most memory that this process had so far, where `/proc` tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}
