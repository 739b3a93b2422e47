//! Memory per stored message: the growth of the resident set of a separate process.

use std::process::Command;

use sqs_benchmarks::arguments::BoxError;
use sqs_benchmarks::plot::Line;
use sqs_benchmarks::process::resident_bytes;

use crate::wire::{Rig, thousands};

/// The first argument of the measured process; the queue name and the number of messages follow.
pub(crate) const CHILD: &str = "--memory-of";
const BODY: usize = 1024;

pub(crate) fn by_kind(quick: bool) -> Vec<Line> {
    let messages = if quick { 50_000 } else { 500_000 };
    println!("| Queue | Messages of 1 KiB | Bytes per message | Without the body |");
    println!("|---|--:|--:|--:|");
    for (name, kind) in
        [("orders", "standard"), ("orders.fifo", "FIFO, 1,000 groups, within the deduplication window")]
    {
        eprintln!("  {} messages in {name}", thousands(messages));
        match measured(name, messages) {
            Some(bytes) => {
                let overhead = bytes.saturating_sub(BODY);
                println!("| {kind} | {} | {} | {overhead} |", thousands(messages), thousands(bytes));
            }
            None => println!("| {kind} | {} | unknown | |", thousands(messages)),
        }
    }
    println!();
    Vec::new()
}

fn measured(name: &str, messages: usize) -> Option<usize> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).args([CHILD, name, &messages.to_string()]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Fills a queue in the child process and prints the bytes per message.
pub(crate) fn child(name: &str, messages: usize) -> Result<(), BoxError> {
    let rig = Rig::new();
    let url = rig.queue(name);
    // Excludes memory that the first requests allocate.
    fill(&rig, &url, 0..1000);
    let before = resident_bytes(std::process::id())?;
    fill(&rig, &url, 1000..1000 + messages);
    let growth = resident_bytes(std::process::id())?.saturating_sub(before);
    println!("{}", usize::try_from(growth)? / messages);
    Ok(())
}

fn fill(rig: &Rig, url: &str, numbers: std::ops::Range<usize>) {
    let fifo = url.ends_with(".fifo");
    for number in numbers {
        let group = number % 1000;
        let ids =
            format!(r#","MessageGroupId":"group-{group}","MessageDeduplicationId":"message-{number:026}""#);
        let ids = if fifo { ids } else { String::new() };
        let input = format!(r#"{{"QueueUrl":"{url}","MessageBody":"{number:0BODY$}"{ids}}}"#);
        rig.call("SendMessage", &input);
    }
}
