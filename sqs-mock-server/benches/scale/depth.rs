//! Costs by number of messages in one queue, and by groups of one FIFO queue.

use std::time::Duration;

use sqs_benchmarks::plot::Line;

use crate::wire::{Rig, micros, receive, send, thousands};

const BODY: usize = 100;
/// Groups of FIFO queues in the first table.
const GROUPS: usize = 1000;
/// Messages whose visibility is changed repeatedly.
const HELD: usize = 500;

/// The columns.
const OPERATIONS: [&str; 4] = ["Send", "Receive and delete", "Change visibility", "Request without a queue"];

/// The plotted columns, without the last one.
const PLOTTED: std::ops::Range<usize> = 0..OPERATIONS.len() - 1;

/// Plots by messages; both queue types have the same colours.
pub(crate) fn by_messages(quick: bool) -> Vec<Line> {
    let sizes: &[usize] = if quick { &[1_000, 10_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    println!("| Messages | Queue | {} |", OPERATIONS.join(" | "));
    println!("|--:|---|--:|--:|--:|--:|");
    let mut curves = Vec::new();
    for (name, kind) in [("orders", "standard"), ("orders.fifo", "FIFO")] {
        let label = if kind == "FIFO" { "FIFO, 1,000 groups" } else { kind };
        let rows: Vec<_> =
            sizes.iter().map(|size| (*size, row(label, *size, Deep::new(name, *size, GROUPS)))).collect();
        let dashed = kind == "FIFO";
        curves.extend(PLOTTED.map(|operation| Line { dashed, ..curve(kind, operation, &rows) }));
    }
    println!();
    curves
}

/// Measures a queue, prints its row and returns its times.
fn row(kind: &str, size: usize, deep: Deep) -> [Duration; 4] {
    let times = deep.measure();
    println!("| {} | {kind} | {} |", thousands(size), cells(times));
    times
}

fn cells(times: [Duration; 4]) -> String {
    times.map(|time| format!("{} µs", micros(time))).join(" | ")
}

/// The line of an operation by messages or groups.
fn curve(kind: &str, operation: usize, rows: &[(usize, [Duration; 4])]) -> Line {
    let number = |size: usize| u32::try_from(size).map_or(0.0, f64::from);
    let points = rows.iter().map(|(size, times)| (number(*size), times[operation].as_secs_f64() * 1e6));
    let name = format!("{}, {kind}", OPERATIONS[operation]);
    Line { name, colour: operation, dashed: false, points: points.collect() }
}

/// Plots by groups, in other colours.
pub(crate) fn by_groups(quick: bool) -> Vec<Line> {
    let groups: &[usize] = if quick { &[1_000, 10_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    println!("| FIFO groups | Messages | {} |", OPERATIONS.join(" | "));
    println!("|--:|--:|--:|--:|--:|--:|");
    let mut rows = Vec::new();
    for &groups in groups {
        let messages = 100_000.max(groups);
        let times = Deep::new("orders.fifo", messages, groups).measure();
        println!("| {} | {} | {} |", thousands(groups), thousands(messages), cells(times));
        rows.push((groups, times));
    }
    println!();
    let line = |operation| Line { colour: PLOTTED.end + operation, ..curve("by groups", operation, &rows) };
    PLOTTED.map(line).collect()
}

/// A queue with many messages.
pub(crate) struct Deep {
    pub(crate) rig: Rig,
    pub(crate) url: String,
    fifo: bool,
    groups: usize,
    sent: usize,
}

impl Deep {
    pub(crate) fn new(name: &str, size: usize, groups: usize) -> Self {
        eprintln!("  {} messages in {name}", thousands(size));
        let rig = Rig::new();
        let url = rig.queue(name);
        let mut deep = Self { rig, url, fifo: name.ends_with(".fifo"), groups, sent: 0 };
        while deep.sent < size {
            let entries: Vec<_> =
                (0..10).map(|n| format!(r#"{{"Id":"{n}",{}}}"#, deep.message(deep.sent + n))).collect();
            let input = format!(r#"{{"QueueUrl":"{}","Entries":[{}]}}"#, deep.url, entries.join(","));
            deep.rig.call("SendMessageBatch", &input);
            deep.sent += 10;
        }
        deep
    }

    /// Members of a message.
    fn message(&self, number: usize) -> String {
        let body = format!(r#""MessageBody":"{number:0BODY$}""#);
        if !self.fifo {
            return body;
        }
        let group = number % self.groups;
        format!(r#"{body},"MessageGroupId":"group-{group}","MessageDeduplicationId":"message-{number}""#)
    }

    fn measure(mut self) -> [Duration; 4] {
        let floor = self.rig.floor();
        [self.send(), self.receive_and_delete(), self.change_visibility(), floor]
    }

    fn send(&mut self) -> Duration {
        let first = self.sent;
        let time = self.rig.time(|number| {
            let number = first + usize::try_from(number).unwrap_or(0);
            let input = format!(r#"{{"QueueUrl":"{}",{}}}"#, self.url, self.message(number));
            send(self.rig.server.transport(), "SendMessage", input)
        });
        self.sent = first + 1_000_000;
        time
    }

    fn receive_and_delete(&self) -> Duration {
        self.rig.time(|_| async {
            let input = format!(r#"{{"QueueUrl":"{}"}}"#, self.url);
            let handle = receive(self.rig.server.transport(), input).await;
            let input = format!(r#"{{"QueueUrl":"{}","ReceiptHandle":"{handle}"}}"#, self.url);
            send(self.rig.server.transport(), "DeleteMessage", input).await
        })
    }

    fn change_visibility(&self) -> Duration {
        let input = format!(r#"{{"QueueUrl":"{}"}}"#, self.url);
        let one = || receive(self.rig.server.transport(), input.clone());
        let handles: Vec<_> = (0..HELD).map(|_| self.rig.runtime.block_on(one())).collect();
        self.rig.time(|number| {
            let handle = &handles[usize::try_from(number).unwrap_or(0) % HELD];
            let timeout = 1000 + number;
            let input = format!(
                r#"{{"QueueUrl":"{}","ReceiptHandle":"{handle}","VisibilityTimeout":{timeout}}}"#,
                self.url
            );
            send(self.rig.server.transport(), "ChangeMessageVisibility", input)
        })
    }
}
