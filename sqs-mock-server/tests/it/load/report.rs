//! The report at the end of a run.

use std::fmt;
use std::time::Duration;

use super::Tally;

/// The result of a run without violations.
#[derive(Debug)]
pub(crate) struct Report {
    /// The duration of the sends.
    pub(crate) produced: Duration,
    /// The duration until the queues were empty.
    pub(crate) drained: Duration,
    pub(crate) tallies: [(&'static str, Tally); 2],
    pub(crate) requests: u64,
    /// The hits of each kind of fault.
    pub(crate) hits: Vec<(&'static str, u64)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { produced, drained, requests, .. } = self;
        let seconds = produced.as_secs_f64();
        writeln!(
            f,
            "sent for {seconds:.1} s, empty after {:.1} s, {requests} requests\n",
            drained.as_secs_f64()
        )?;
        writeln!(
            f,
            "| Queue | Accepted | Messages/s | Stored twice | Deliveries | Redelivered | Lost |\n|---|--:|--:|--:|--:|--:|--:|"
        )?;
        for (queue, tally) in &self.tallies {
            let Tally { accepted, arrived, deliveries, copies, .. } = tally;
            #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
            let rate = *accepted as f64 / seconds;
            let (again, lost) = (deliveries - arrived - copies, accepted - arrived);
            writeln!(f, "| {queue} | {accepted} | {rate:.0} | {copies} | {deliveries} | {again} | {lost} |")?;
        }
        writeln!(f, "\n| Fault | Struck |\n|---|--:|")?;
        for (kind, hits) in &self.hits {
            writeln!(f, "| {kind} | {hits} |")?;
        }
        Ok(())
    }
}
