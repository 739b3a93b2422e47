//! Bytes that a stored message takes: growth of the resident set of a process that does nothing else.

use std::process::{Command, ExitCode};

use crate::lines::Line;
use crate::wire::{Rig, thousands};

/// First argument of the process that is measured; the name of its queue and how many messages follow.
pub(crate) const CHILD: &str = "--memory-of";
const BODY: usize = 1024;
const PAGE: usize = 4096;

pub(crate) fn by_kind(quick: bool) -> Vec<Line> {
    let messages = if quick { 50_000 } else { 500_000 };
    println!("| queue | messages of 1 KiB | bytes per message | beside the body |");
    println!("|---|--:|--:|--:|");
    for (name, kind) in
        [("orders", "standard"), ("orders.fifo", "FIFO, 1,000 groups, within the deduplication window")]
    {
        eprintln!("  {} messages in {name}", thousands(messages));
        match measured(name, messages) {
            Some(bytes) => {
                let beside = bytes.saturating_sub(BODY);
                println!("| {kind} | {} | {} | {beside} |", thousands(messages), thousands(bytes));
            }
            None => println!("| {kind} | {} | unknown here | |", thousands(messages)),
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

/// Fills a queue and prints what a message of it takes.
pub(crate) fn child(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let (Some(name), Some(messages)) =
        (arguments.next(), arguments.next().and_then(|n| n.parse::<usize>().ok()))
    else {
        return ExitCode::FAILURE;
    };
    let rig = Rig::new();
    let url = rig.queue(&name);
    // What the first requests take is not of the messages.
    fill(&rig, &url, 0..1000);
    let Some(before) = resident() else { return ExitCode::FAILURE };
    fill(&rig, &url, 1000..1000 + messages);
    let Some(after) = resident() else { return ExitCode::FAILURE };
    println!("{}", after.saturating_sub(before) / messages);
    ExitCode::SUCCESS
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

/// The resident set in bytes, where the system tells.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}
