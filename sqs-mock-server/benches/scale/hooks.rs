//! The CPU time of messages for a hundred web hooks, which answer in a separate process.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sqs_benchmarks::arguments::BoxError;
use sqs_benchmarks::figures::median;
use sqs_benchmarks::plot::Line;
use sqs_benchmarks::process::Cpu;
use tokio::net::TcpListener;

use crate::topics::query;
use crate::wire::{Rig, micros};

/// The first argument of the process with the web hooks.
pub(crate) const CHILD: &str = "--web-hooks";

const SUBSCRIBERS: u32 = 100;
const ROUNDS: u32 = 5;
const TOPIC: &str = "arn:aws:sns:us-east-1:000000000000:hooked";

pub(crate) fn by_form(quick: bool) -> Vec<Line> {
    let publishes = if quick { 20 } else { 200 };
    println!("| {SUBSCRIBERS} web hooks get | CPU of the server for each request | Range |");
    println!("|---|--:|--:|");
    for (form, attribute) in [("raw messages", Some("true")), ("signed notifications", None)] {
        eprintln!("  {form}");
        match measured(attribute, publishes) {
            Ok(mut each) => {
                each.sort_unstable();
                let (least, most) = (each[0], each[each.len() - 1]);
                let middle = median(each, Ord::cmp).unwrap_or_default();
                println!("| {form} | {} µs | {} to {} µs |", micros(middle), micros(least), micros(most));
            }
            Err(error) => println!("| {form} | unknown: {error} | |"),
        }
    }
    println!();
    Vec::new()
}

/// The CPU time of each request, once for each round.
fn measured(raw: Option<&str>, publishes: u32) -> Result<Vec<Duration>, BoxError> {
    let (mut hooks, url) = start()?;
    let rig = Rig::new();
    let ask = |form: String| rig.runtime.block_on(query(rig.server.transport(), form));
    ask("Action=CreateTopic&Name=hooked".to_owned());
    for number in 0..SUBSCRIBERS {
        let raw = raw
            .map(|raw| format!("&Attributes.entry.1.key=RawMessageDelivery&Attributes.entry.1.value={raw}"));
        let raw = raw.unwrap_or_default();
        ask(format!("Action=Subscribe&TopicArn={TOPIC}&Protocol=http&Endpoint={url}/{number}{raw}"));
    }
    rig.runtime.block_on(ended(&rig, u64::from(SUBSCRIBERS)));
    for number in 0..SUBSCRIBERS {
        let requests = rig.server.sns_requests();
        let notes: Vec<_> = requests.iter().flat_map(|request| request.notes.iter()).collect();
        let link = notes.get(number as usize).and_then(|note| note.split_once("Token=")).ok_or("no link")?;
        ask(format!("Action=ConfirmSubscription&TopicArn={TOPIC}&Token={}", link.1));
    }
    let mut total = u64::from(SUBSCRIBERS);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let before = Cpu::of_this_process()?;
        for number in 0..publishes {
            ask(format!("Action=Publish&TopicArn={TOPIC}&Message={number:0100}"));
            total += u64::from(SUBSCRIBERS);
            rig.runtime.block_on(ended(&rig, total));
        }
        let used = Cpu::of_this_process()?.since(before).total();
        rounds.push(used / (publishes * SUBSCRIBERS));
    }
    hooks.kill()?;
    hooks.wait()?;
    Ok(rounds)
}

/// Waits until this number of requests has ended since the start.
async fn ended(rig: &Rig, total: u64) {
    while rig.server.deliveries().last().is_none_or(|latest| latest.number < total) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Starts the web hooks, and returns their URL.
fn start() -> Result<(Child, String), BoxError> {
    let mut child = Command::new(std::env::current_exe()?).arg(CHILD).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    Ok((child, line.trim().to_owned()))
}

/// Answers everything with 200, until the process is killed.
pub(crate) fn child() -> Result<(), BoxError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            let service = service_fn(|request: Request<Incoming>| async {
                let _ = request.into_body().collect().await;
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}
