//! Nothing is lost under load, whatever goes wrong. `cargo bench -p sqs-mock-server --bench load` does more of it.

use std::time::Duration;

use crate::load::{End, Load, Plan};

const PLAN: Plan = Plan {
    seed: 7,
    producers: 2,
    consumers: 3,
    lanes: 20,
    end: End::Messages(25),
    visibility: Duration::from_secs(30),
    overlap: true,
    misfortune: 0.05,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_doubled_or_disordered_while_everything_goes_wrong() {
    let load = Load::start(PLAN).await;
    let report = load.run().await.unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(load.progress().accepted, 2000);
    for (queue, tally) in &report.tallies {
        assert_eq!((tally.accepted, tally.arrived), (1000, 1000), "{queue}\n{report}");
    }
    for (fault, hits) in &report.struck {
        assert!(*hits > 0, "{fault} never struck\n{report}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queue_has_what_was_accepted_before_anyone_receives() {
    let plan = Plan { end: End::Messages(10), overlap: false, ..PLAN };
    let report = Load::start(plan).await.run().await.unwrap_or_else(|wrong| panic!("{wrong}"));
    let (standard, fifo) = (report.tallies[0].1, report.tallies[1].1);
    assert_eq!((standard.arrived, fifo.arrived), (400, 400), "{report}");
    assert!(standard.copies > 0 && fifo.in_doubt > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_comes_once_when_nothing_goes_wrong() {
    let plan = Plan { end: End::After(Duration::from_millis(300)), misfortune: 0.0, ..PLAN };
    let report = Load::start(plan).await.run().await.unwrap_or_else(|wrong| panic!("{wrong}"));
    for (queue, tally) in &report.tallies {
        assert!(tally.accepted > 0, "{queue}\n{report}");
        assert_eq!(
            (tally.arrived, tally.copies, tally.in_doubt),
            (tally.accepted, 0, 0),
            "{queue}\n{report}"
        );
        assert_eq!(tally.deliveries, tally.accepted, "{queue}\n{report}");
    }
}
