//! Timers of a lane: one for each runtime that has enqueued entries.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long an idle alarm stays, because starting another one costs more than keeping it.
const IDLE: Duration = Duration::from_secs(10);

/// The alarms of a lane. Their tasks sleep until an alarm is due or woken.
#[derive(Debug, Default)]
pub(crate) struct Alarms(Vec<Alarm>);

#[derive(Debug)]
struct Alarm {
    runtime: Id,
    /// When it is due at the latest.
    at: Instant,
    /// Whether anything waits for it.
    is_set: bool,
    wake: Arc<Notify>,
}

impl Alarms {
    /// Makes the alarm of a runtime due at `until` or earlier. Returns the notifier of a new alarm, which the caller
    /// must start.
    pub(crate) fn set(&mut self, runtime: Id, until: Instant) -> Option<Arc<Notify>> {
        if let Some(alarm) = self.0.iter_mut().find(|alarm| alarm.runtime == runtime) {
            alarm.is_set = true;
            if until < alarm.at {
                alarm.at = until;
                alarm.wake.notify_one();
            }
            return None;
        }
        let wake = Arc::new(Notify::new());
        self.0.push(Alarm { runtime, at: until, is_set: true, wake: Arc::clone(&wake) });
        Some(wake)
    }

    /// An alarm was due or woken. Returns when it is due next; `None` if it ends: at once if `is_over`, else if nothing
    /// has waited for it since the last time.
    pub(crate) fn fired(
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

    /// Wakes all alarms now.
    pub(crate) fn wake(&self) {
        for alarm in &self.0 {
            alarm.wake.notify_one();
        }
    }

    pub(crate) fn remove(&mut self, runtime: Id) {
        self.0.retain(|alarm| alarm.runtime != runtime);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
