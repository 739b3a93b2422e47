//! The tables at the end of a run.

use std::fmt;
use std::time::Duration;

use super::Tally;

/// What came of a run in which nothing was lost.
#[derive(Debug)]
pub(crate) struct Report {
    /// How long producers sent.
    pub(crate) produced: Duration,
    /// How long it took until nothing was left.
    pub(crate) drained: Duration,
    pub(crate) tallies: [(&'static str, Tally); 2],
    pub(crate) requests: u64,
    /// Each kind of fault, and how often it struck.
    pub(crate) struck: Vec<(&'static str, u64)>,
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
        for (kind, hits) in &self.struck {
            writeln!(f, "| {kind} | {hits} |")?;
        }
        Ok(())
    }
}
