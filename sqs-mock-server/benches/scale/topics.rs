//! Costs of a publish by number of subscriptions.

use std::time::Duration;

use bytes::Bytes;
use sqs_benchmarks::plot::Line;
use sqs_client::transport::Transport as _;
use sqs_mock_server::InProcess;

use crate::wire::{Rig, micros, send, thousands};

const ACCOUNT: &str = "000000000000";
/// Published messages of a measurement, so that a hundred queues fit into memory.
const REQUESTS_PER_ROUND: u32 = 10;

/// What subscriptions get.
#[derive(Clone, Copy)]
enum Kind {
    Raw,
    Enveloped,
    /// Raw, for one of them.
    Filtered,
}

pub(crate) fn by_subscriptions(quick: bool) -> Vec<Line> {
    let counts: &[usize] = if quick { &[1, 10] } else { &[1, 10, 100] };
    let (send, floor) = baseline();
    println!("A send takes {} µs, a request without a queue {} µs.\n", micros(send), micros(floor));
    println!(
        "| Subscriptions | Publish, raw | in sends | each, in sends without the request | Enveloped | Filters, one matches |"
    );
    println!("|--:|--:|--:|--:|--:|--:|");
    for count in counts {
        eprintln!("  {} subscriptions", thousands(*count));
        let [raw, enveloped, filtered] =
            [Kind::Raw, Kind::Enveloped, Kind::Filtered].map(|kind| publish(*count, kind));
        let in_sends = raw.as_secs_f64() / send.as_secs_f64();
        let each = raw.saturating_sub(floor).div_f64(f64::from(u32::try_from(*count).unwrap_or(u32::MAX)));
        let each = each.as_secs_f64() / send.saturating_sub(floor).as_secs_f64();
        let [raw, enveloped, filtered] =
            [raw, enveloped, filtered].map(|time| format!("{} µs", micros(time)));
        println!("| {} | {raw} | {in_sends:.2} | {each:.2} | {enveloped} | {filtered} |", thousands(*count));
    }
    println!();
    Vec::new()
}

/// A send to a queue, and a request without one.
fn baseline() -> (Duration, Duration) {
    let rig = Rig::new();
    let url = rig.queue("q0");
    let sent = rig.time(|number| {
        let body = body(number);
        send(
            rig.server.transport(),
            "SendMessage",
            format!(r#"{{"QueueUrl":"{url}","MessageBody":"{body}"}}"#),
        )
    });
    (sent, rig.floor())
}

fn publish(count: usize, kind: Kind) -> Duration {
    let rig = Rig::new();
    let topic = format!("arn:aws:sns:us-east-1:{ACCOUNT}:t");
    let ask = |form: &str| rig.runtime.block_on(query(rig.server.transport(), form.to_owned()));
    ask("Action=CreateTopic&Name=t");
    for number in 0..count {
        let name = format!("q{number}");
        rig.queue(&name);
        let mut form = format!(
            "Action=Subscribe&TopicArn={topic}&Protocol=sqs&Endpoint=arn:aws:sqs:us-east-1:{ACCOUNT}:{name}"
        );
        if !matches!(kind, Kind::Enveloped) {
            form += "&Attributes.entry.1.key=RawMessageDelivery&Attributes.entry.1.value=true";
        }
        if matches!(kind, Kind::Filtered) {
            let policy = format!("%7B%22to%22%3A%5B%22{number}%22%5D%7D");
            form += "&Attributes.entry.2.key=FilterPolicy&Attributes.entry.2.value=";
            form += &policy;
        }
        ask(&form);
    }
    rig.time_rounds_of(REQUESTS_PER_ROUND, |number| {
        let body = body(number);
        let form = format!(
            "Action=Publish&TopicArn={topic}&Message={body}&MessageAttributes.entry.1.Name=to&\
             MessageAttributes.entry.1.Value.DataType=String&MessageAttributes.entry.1.Value.StringValue=0"
        );
        let plain = format!("Action=Publish&TopicArn={topic}&Message={body}");
        query(rig.server.transport(), if matches!(kind, Kind::Filtered) { form } else { plain })
    })
}

/// A hundred bytes.
fn body(number: u32) -> String {
    format!("{number:0100}")
}

pub(crate) async fn query(transport: InProcess, form: String) -> Bytes {
    let request = http::Request::post("http://sns.test/")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Bytes::from(form + "&Version=2010-03-31"))
        .expect("a request");
    let response = transport.send(request).await.expect("a server");
    let status = response.status();
    let body = response.into_body();
    assert!(status.is_success(), "{}", String::from_utf8_lossy(&body));
    body
}
