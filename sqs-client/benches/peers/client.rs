//! One measurement, in a separate process.

use std::time::Duration;

use sqs_benchmarks::process::{Cpu, now, peak_kib};
use tokio::task::JoinSet;

use crate::BoxError;
use crate::figures::{Figures, Times};
use crate::floor::Floor;
use crate::options::{Measurement, Peer};
use crate::peers::{self, Exchange};

pub(crate) fn run(measurement: &Measurement, url: &str) -> Result<Figures, BoxError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let Measurement { row, body, .. } = *measurement;
    runtime.block_on(async {
        match measurement.peer {
            Peer::Ours => measure(peers::ours(row, url, body), measurement).await,
            #[cfg(feature = "hyper")]
            Peer::Hyper => measure(peers::ours_over_hyper(row, url, body), measurement).await,
            Peer::Sdk => measure(peers::sdk(row, url, body), measurement).await,
            Peer::Floor => measure(Floor::new(row, url, body)?, measurement).await,
        }
    })
}

async fn measure(peer: impl Exchange, measurement: &Measurement) -> Result<Figures, BoxError> {
    let Measurement { concurrency, time, .. } = *measurement;
    load(&peer, concurrency, time / 5).await?;

    let session = alloc_tracker::Session::new().no_stdout().no_file();
    let allocations = session.operation("requests").measure_process();
    let (cpu, start) = (Cpu::of_this_process()?, now());
    let times = load(&peer, concurrency, time).await?;
    let (took, cpu) = (start.elapsed(), Cpu::of_this_process()?.since(cpu));
    drop(allocations.iterations(times.count().max(1)));
    let report = session.to_report();
    let allocations = report.operations().map(|(_, operation)| operation.total_allocations_count()).sum();
    Ok(Figures::new(&times, took, cpu, allocations, peak_kib()?))
}

/// Sends requests for `time`, `concurrency` at a time.
async fn load(peer: &impl Exchange, concurrency: usize, time: Duration) -> Result<Times, BoxError> {
    let end = now() + time;
    let mut tasks = JoinSet::new();
    for _ in 0..concurrency {
        let peer = peer.clone();
        tasks.spawn(async move {
            let mut times = Times::default();
            let mut start = now();
            while start < end {
                peer.exchange().await?;
                let next = now();
                times.add(next.duration_since(start));
                start = next;
            }
            Ok::<_, BoxError>(times)
        });
    }
    let mut all = Times::default();
    while let Some(times) = tasks.join_next().await {
        all.merge(&times??);
    }
    Ok(all)
}
