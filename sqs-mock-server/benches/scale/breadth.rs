//! Costs by number of queues.

use sqs_benchmarks::plot::Line;

use crate::wire::{Rig, micros, send, thousands};

pub(crate) fn by_queues(quick: bool) -> Vec<Line> {
    let counts: &[usize] = if quick { &[100, 1_000] } else { &[100, 1_000, 10_000] };
    println!("| Queues | Send to one queue | List ten queues | Request without a queue |");
    println!("|--:|--:|--:|--:|");
    for count in counts {
        eprintln!("  {} queues", thousands(*count));
        let rig = Rig::new();
        let urls: Vec<_> = (0..*count).map(|number| rig.queue(&format!("queue-{number:05}"))).collect();
        let transport = || rig.server.transport();
        // A large step without a common factor with the count visits all queues in a scattered order.
        let url = |number: u32| &urls[(usize::try_from(number).unwrap_or(0) * 7919) % count];
        let sent = rig.time(|number| {
            let input = format!(r#"{{"QueueUrl":"{}","MessageBody":"x"}}"#, url(number));
            send(transport(), "SendMessage", input)
        });
        let listed = rig.time(|number| {
            let prefix = usize::try_from(number).unwrap_or(0) % (count / 10);
            send(transport(), "ListQueues", format!(r#"{{"QueueNamePrefix":"queue-{prefix:04}"}}"#))
        });
        let cells = [sent, listed, rig.floor()].map(|time| format!("{} µs", micros(time))).join(" | ");
        println!("| {} | {cells} |", thousands(*count));
    }
    println!();
    Vec::new()
}
