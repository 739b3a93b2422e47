//! No messages are lost under load with faults. `cargo bench -p sqs-mock-server --bench load` runs longer.

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
    fault_rate: 0.05,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_under_load_cause_no_loss_duplicates_or_reordering() {
    let load = Load::start(PLAN).await;
    let report = load.run().await.unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(load.progress().accepted, 2000);
    for (queue, tally) in &report.tallies {
        assert_eq!((tally.accepted, tally.arrived), (1000, 1000), "{queue}\n{report}");
    }
    for (fault, hits) in &report.hits {
        assert!(*hits > 0, "{fault} had no hits\n{report}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queue_has_all_accepted_messages_before_the_first_receive() {
    let plan = Plan { end: End::Messages(10), overlap: false, ..PLAN };
    let report = Load::start(plan).await.run().await.unwrap_or_else(|wrong| panic!("{wrong}"));
    let (standard, fifo) = (report.tallies[0].1, report.tallies[1].1);
    assert_eq!((standard.arrived, fifo.arrived), (400, 400), "{report}");
    assert!(standard.copies > 0 && fifo.in_doubt > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_is_received_once_without_faults() {
    let plan = Plan { end: End::After(Duration::from_millis(300)), fault_rate: 0.0, ..PLAN };
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
