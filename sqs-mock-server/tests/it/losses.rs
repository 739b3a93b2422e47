//! Nothing is lost under load, whatever goes wrong.

use crate::load::{End, Load, Plan};

const PLAN: Plan =
    Plan { seed: 7, producers: 2, consumers: 3, lanes: 20, end: End::Messages(25), misfortune: 0.05 };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_doubled_or_disordered_while_everything_goes_wrong() {
    let report = Load::start(PLAN).await.run().await.unwrap_or_else(|wrong| panic!("{wrong}"));
    for (queue, tally) in &report.tallies {
        assert_eq!((tally.accepted, tally.arrived), (1000, 1000), "{queue}\n{report}");
    }
    for (fault, hits) in &report.struck {
        assert!(*hits > 0, "{fault} never struck\n{report}");
    }
    println!("{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_comes_once_when_nothing_goes_wrong() {
    let report = Load::start(Plan { misfortune: 0.0, ..PLAN }).await.run().await;
    let report = report.unwrap_or_else(|wrong| panic!("{wrong}"));
    for (queue, tally) in &report.tallies {
        assert_eq!((tally.accepted, tally.copies, tally.in_doubt), (1000, 0, 0), "{queue}\n{report}");
    }
    let fifo = report.tallies[1].1;
    assert_eq!(fifo.deliveries, 1000, "{report}");
}
