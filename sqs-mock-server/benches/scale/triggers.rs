//! Messages that a trigger passes to a function in this process, over a socket.

use std::time::Duration;

use sqs_benchmarks::plot::Line;
use sqs_mock_server::{MockSqs, Trigger};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::time::Instant;

use crate::wire::{call, send, thousands};

const MESSAGES: usize = 50_000;

pub(crate) fn by_batch(quick: bool) -> Vec<Line> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    println!("| Batch | Queue | Messages per second |");
    println!("|--:|---|--:|");
    for (batch, queue) in [(1, "orders"), (10, "orders"), (100, "orders"), (10, "orders.fifo")] {
        eprintln!("  batches of {batch}");
        let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let time = runtime.block_on(pass(queue, batch, messages));
        let rate = f64::from(u32::try_from(messages).unwrap_or(u32::MAX)) / time.as_secs_f64();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive rate")]
        let rate = thousands(rate as usize);
        println!("| {batch} | {queue} | {rate} |");
    }
    println!();
    Vec::new()
}

/// The time until a trigger has passed all messages of a queue to its function.
async fn pass(name: &str, batch: usize, messages: usize) -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    let server = MockSqs::builder().seed(1).in_process().expect("valid settings");
    let fifo = if name.ends_with(".fifo") { r#","FifoQueue":"true""# } else { "" };
    let create = format!(r#"{{"QueueName":"{name}","Attributes":{{"VisibilityTimeout":"1000"{fifo}}}}}"#);
    call(server.transport(), "CreateQueue", create).await;
    let queue = server.queue_url(name);
    for number in 0..messages {
        let fifo =
            format!(r#","MessageGroupId":"{}","MessageDeduplicationId":"{number}""#, number / 10 % 1_000);
        let fifo = if name.ends_with(".fifo") { fifo.as_str() } else { "" };
        let input = format!(r#"{{"QueueUrl":"{queue}","MessageBody":"message {number}"{fifo}}}"#);
        send(server.transport(), "SendMessage", input).await;
    }
    let start = Instant::now();
    let mut trigger = Trigger::new(name, url).batch_size(batch);
    if batch > 10 {
        trigger = trigger.batch_window(Duration::from_secs(1));
    }
    server.add_trigger(trigger).expect("a valid trigger");
    while server
        .triggers()
        .iter()
        .any(|trigger| usize::try_from(trigger.deleted).is_ok_and(|deleted| deleted < messages))
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    start.elapsed()
}

/// Answers each request with an empty body.
async fn answer(mut stream: TcpStream) -> Option<()> {
    let (mut buffer, mut received) = (vec![0; 64 << 10], Vec::new());
    loop {
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        received.extend_from_slice(buffer.get(..read)?);
        let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(received.get(..end)?).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        let length: usize = length.trim().parse().ok()?;
        if received.len() >= end + 4 + length {
            received.drain(..end + 4 + length);
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.ok()?;
        }
    }
}
