//! Timers of a lane: one for each runtime that has enqueued entries.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long an alarm without anything to wait for stays, since starting another one takes longer than keeping it.
const IDLE: Duration = Duration::from_secs(10);

/// The alarms of a lane. Their tasks sleep until an alarm goes off or is rung.
#[derive(Debug, Default)]
pub(crate) struct Alarms(Vec<Alarm>);

#[derive(Debug)]
struct Alarm {
    runtime: Id,
    /// When it goes off at the latest.
    at: Instant,
    /// Whether it has something to wait for.
    is_set: bool,
    ring: Arc<Notify>,
}

impl Alarms {
    /// Lets the alarm of a runtime go off at that time or before. Returns how a new one is rung, which is to be started.
    pub(crate) fn set(&mut self, runtime: Id, until: Instant) -> Option<Arc<Notify>> {
        if let Some(alarm) = self.0.iter_mut().find(|alarm| alarm.runtime == runtime) {
            alarm.is_set = true;
            if until < alarm.at {
                alarm.at = until;
                alarm.ring.notify_one();
            }
            return None;
        }
        let ring = Arc::new(Notify::new());
        self.0.push(Alarm { runtime, at: until, is_set: true, ring: Arc::clone(&ring) });
        Some(ring)
    }

    /// An alarm has gone off or was rung. Says when it does so next; `None` if it ends: at once if `is_over`, else if it had
    /// nothing to wait for since the last time.
    pub(crate) fn went_off(
        &mut self,
        runtime: Id,
        now: Instant,
        until: Option<Instant>,
        is_over: bool,
    ) -> Option<Instant> {
        let index = self.0.iter().position(|alarm| alarm.runtime == runtime)?;
        let alarm = self.0.get_mut(index)?;
        let was_set = std::mem::replace(&mut alarm.is_set, until.is_some());
        if is_over || (until.is_none() && !was_set) {
            self.0.swap_remove(index);
            return None;
        }
        alarm.at = until.unwrap_or(now + IDLE);
        Some(alarm.at)
    }

    /// Lets all go off now.
    pub(crate) fn ring(&self) {
        for alarm in &self.0 {
            alarm.ring.notify_one();
        }
    }

    pub(crate) fn remove(&mut self, runtime: Id) {
        self.0.retain(|alarm| alarm.runtime != runtime);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
