//! Single requests on a full queue: the first one after the messages expired, a purge, a delete.

use std::time::Duration;

use tokio::time::Instant;

use sqs_benchmarks::plot::Line;

use crate::depth::Deep;
use crate::wire::thousands;

const FOUR_DAYS: Duration = Duration::from_hours(4 * 24);

pub(crate) fn at_once(quick: bool) -> Vec<Line> {
    let size = if quick { 10_000 } else { 1_000_000 };
    println!(
        "| {} messages | All expired | All but one expired | Purge | Delete the queue |",
        thousands(size)
    );
    println!("|---|--:|--:|--:|--:|");
    for name in ["orders", "orders.fifo"] {
        let cells = [
            timed(name, size, |deep| deep.rig.server.clock().advance(FOUR_DAYS), "GetQueueAttributes"),
            timed(name, size, all_but_one_expired, "GetQueueAttributes"),
            timed(name, size, |_| {}, "PurgeQueue"),
            timed(name, size, |_| {}, "DeleteQueue"),
        ];
        let kind = if name.ends_with(".fifo") { "FIFO, 1,000 groups" } else { "standard" };
        println!(
            "| {kind} | {} |",
            cells.map(|time| format!("{:.2} ms", time.as_secs_f64() * 1e3)).join(" | ")
        );
    }
    println!();
    Vec::new()
}

fn all_but_one_expired(deep: &Deep) {
    deep.rig.server.clock().advance(FOUR_DAYS / 2);
    let ids = r#""MessageGroupId":"young","MessageDeduplicationId":"young""#;
    let ids = if deep.url.ends_with(".fifo") { format!(",{ids}") } else { String::new() };
    let input = format!(r#"{{"QueueUrl":"{}","MessageBody":"young"{ids}}}"#, deep.url);
    deep.rig.call("SendMessage", &input);
    deep.rig.server.clock().advance(FOUR_DAYS / 2);
}

/// The duration of a request on a full queue after `prepare`.
fn timed(name: &str, size: usize, prepare: impl FnOnce(&Deep), action: &str) -> Duration {
    let deep = Deep::new(name, size, 1000);
    prepare(&deep);
    let names = if action == "GetQueueAttributes" { r#","AttributeNames":["All"]"# } else { "" };
    let input = format!(r#"{{"QueueUrl":"{}"{names}}}"#, deep.url);
    let start = Instant::now();
    deep.rig.call(action, &input);
    start.elapsed()
}
