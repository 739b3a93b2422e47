//! The adaptive limit of running handlers, by their durations. Pure: time is a parameter.
//!
//! ```text
//! window of handlers -> as long as usual: grow, if all were busy      usual: falls with quick windows,
//!                       more than twice:  shrink in proportion               rises slowly with slow ones
//!                       still so long at half the limit: that is usual now
//! a handler says that it is overloaded -> halve
//! ```
//! After the gradient limits of <https://github.com/Netflix/concurrency-limits>.

use std::time::Duration;

use tokio::time::Instant;

/// A window lasts at least this long, and contains ten handlers, or as many as may run.
const MIN_WINDOW: Duration = Duration::from_millis(100);

const WINDOW_HANDLERS: u32 = 10;

/// A window of this length ends even if it is not full.
const MAX_WINDOW: Duration = Duration::from_secs(1);

/// The tolerated ratio to the usual duration: some messages take longer than others.
const TOLERANCE: f64 = 2.0;

/// The largest part that one window can take away. So one unusual window does little harm.
const MAX_CUT: f64 = 0.25;

/// One window adds this part of the limit's square root: from 10 to 100 in about six seconds.
const GROWTH: f64 = 0.25;

/// The weight of a window that is quicker than usual.
const QUICK_WEIGHT: f64 = 0.1;

/// The usual time doubles at most once in this time.
const DOUBLING: Duration = Duration::from_secs(60);

/// If the mean duration does not fall to this part while the limit is halved, fewer handlers do not help.
const HELPED: f64 = 0.75;

/// The shortest time between two halvings.
const HALVING_PAUSE: Duration = Duration::from_millis(100);

/// The initial limit, within the bounds.
const FIRST: usize = 10;

/// How a handler ended. Of several ends, the greatest one counts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum HandlerEnd {
    /// Says nothing about the downstream of the handler.
    Stopped,
    /// A failure counts only if it took long: many failures are quick.
    Failed,
    Succeeded,
    /// The handler returned `Overloaded`.
    Overloaded,
}

/// How many handlers may run.
#[derive(Debug)]
pub(crate) struct AdaptiveLimit {
    min: f64,
    max: f64,
    limit: f64,
    window: Window,
    /// How many seconds handlers take when nothing is overloaded.
    usual: Option<f64>,
    /// The current series of cuts, since handlers began to take too long.
    cut: Option<Cut>,
    /// When the limit was last halved.
    halved: Option<Instant>,
}

/// A series of cuts of the limit.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// The limit before the series.
    limit: f64,
    /// The longest mean duration until the limit was half.
    mean: f64,
    /// When the limit reached half.
    reached: Option<Instant>,
}

/// The handlers that ended recently.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// When the window before it ended.
    since: Option<Instant>,
    handlers: u32,
    total: Duration,
    /// When the first of them started.
    first_start: Option<Instant>,
    /// The most that ran at a time.
    most_running: usize,
    /// Whether a handler could not start.
    was_refused: bool,
}

impl AdaptiveLimit {
    pub(crate) fn new(min: usize, max: usize) -> Self {
        let limit = as_f64(FIRST.clamp(min, max.max(min)));
        let (min, max) = (as_f64(min), as_f64(max));
        Self { min, max, limit, window: Window::default(), usual: None, cut: None, halved: None }
    }

    pub(crate) fn limit(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 120,000")]
        let limit = self.limit as usize;
        limit
    }

    /// Takes the end of a handler. `running` counts those that run, this one included.
    pub(crate) fn ended(&mut self, how: HandlerEnd, elapsed: Duration, running: usize, now: Instant) {
        match how {
            HandlerEnd::Overloaded => return self.overloaded(elapsed, now),
            HandlerEnd::Stopped => return,
            HandlerEnd::Failed if self.usual.is_none_or(|usual| elapsed.as_secs_f64() < usual) => return,
            HandlerEnd::Failed | HandlerEnd::Succeeded => {}
        }
        let window = &mut self.window;
        window.handlers += 1;
        window.total += elapsed;
        window.most_running = window.most_running.max(running);
        let started = now.checked_sub(elapsed);
        window.first_start = window.first_start.min(started).or(started);
        let length = now.saturating_duration_since(*window.since.get_or_insert(now));
        let is_full = f64::from(window.handlers) >= self.limit.floor().min(WINDOW_HANDLERS.into());
        if length >= MAX_WINDOW || (is_full && length >= MIN_WINDOW) {
            self.window_ended(length, now);
        }
    }

    /// A handler could not start, because the limit is reached or the rest is reserved for others.
    pub(crate) fn refused(&mut self) {
        self.window.was_refused = true;
    }

    fn window_ended(&mut self, length: Duration, now: Instant) {
        let Window { handlers, total, first_start, most_running, was_refused, .. } =
            std::mem::replace(&mut self.window, Window { since: Some(now), ..Window::default() });
        let mean = total.as_secs_f64() / f64::from(handlers.max(1));
        let is_cut_useless = self.is_cut_useless(mean, first_start);
        let usual = match self.usual {
            None => mean,
            Some(_) if is_cut_useless => mean,
            Some(usual) if mean <= usual => usual + (mean - usual) * QUICK_WEIGHT,
            Some(usual) => mean.min(usual * (length.as_secs_f64() / DOUBLING.as_secs_f64()).exp2()),
        };
        self.usual = Some(usual);
        let gradient = if mean > 0.0 { TOLERANCE * usual / mean } else { 1.0 };
        if gradient >= 1.0 {
            self.cut = None;
        }
        if gradient < 1.0 {
            let cut = self.cut.get_or_insert(Cut { limit: self.limit, mean, reached: None });
            self.limit *= gradient.max(1.0 - MAX_CUT);
            if cut.reached.is_none() {
                cut.mean = cut.mean.max(mean);
                cut.reached = (self.limit <= cut.limit / 2.0).then_some(now);
            }
        } else if was_refused || as_f64(most_running) >= 0.9 * self.limit.floor() {
            self.limit += GROWTH * self.limit.sqrt();
        }
        self.limit = self.limit.clamp(self.min, self.max);
    }

    /// Whether handlers that all started after the limit was cut to a half take as long as before. Ends the series of cuts once
    /// that is known.
    fn is_cut_useless(&mut self, mean: f64, first_start: Option<Instant>) -> bool {
        let Some(Cut { mean: before, reached: Some(reached), .. }) = self.cut else { return false };
        let is_known = first_start.is_some_and(|start| start >= reached);
        if is_known {
            self.cut = None;
        }
        is_known && mean > before * HELPED
    }

    /// Handlers that started before the last halving carry no new information.
    fn overloaded(&mut self, elapsed: Duration, now: Instant) {
        let is_known = |halved: Instant| now < halved + elapsed.max(HALVING_PAUSE);
        if !self.halved.is_some_and(is_known) {
            self.limit = (self.limit / 2.0).max(self.min);
            self.halved = Some(now);
            self.cut = None;
            self.window = Window { since: Some(now), ..Window::default() };
        }
    }
}

/// Exact, because counts are small.
fn as_f64(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}

#[cfg(test)]
#[path = "adaptive_tests.rs"]
mod tests;
