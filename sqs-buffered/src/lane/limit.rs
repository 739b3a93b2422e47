//! How many batches may be in flight on a lane.
//!
//! The adaptive bound is found by trial. While full batches wait for it, the bound is raised. It stays raised if the
//! lane then completes noticeably more batches per second. Response times do not count, because they vary too much
//! between requests. When SQS throttles, the fraction of batches that it accepts gives the new bound. From there, the
//! bound rises in small steps, which double as long as SQS does not throttle.

use std::time::Duration;

use tokio::time::Instant;

use crate::settings::InFlight;

/// The first bound.
const START: usize = 10;

/// A bound is judged by as many responses as it has batches, but at least by this many.
const MIN_ANSWERS: usize = 10;

/// The minimum time before a bound is judged: in less time, chance decides.
const MIN_TIME: Duration = Duration::from_millis(25);

/// The maximum time before a bound is judged: a lane with few batches does not need its bound.
const MAX_TIME: Duration = Duration::from_secs(1);

/// The pause after a trial that failed, doubled each time in a row.
const INITIAL_PATIENCE: Duration = Duration::from_millis(250);

const MAX_PATIENCE: Duration = Duration::from_secs(4);

/// The tolerated throttling: one batch in this many.
const TOLERATED: usize = 20;

/// The bound of a lane.
#[derive(Debug)]
pub(crate) struct Limit {
    max: usize,
    bound: usize,
    /// Whether the bound never changes.
    is_fixed: bool,
    /// By how much the next trial raises the bound.
    step: usize,
    trial: Option<Trial>,
    /// The bound at which SQS throttled. Below it, a raised bound is kept if SQS does not throttle.
    throttled_at: Option<usize>,
    window: Window,
    /// Whether full batches wait for the bound.
    is_limited: bool,
    /// The earliest time of the next trial.
    next_trial: Option<Instant>,
    patience: Duration,
}

/// A bound that was raised.
#[derive(Debug)]
struct Trial {
    from: usize,
    /// Batches per second before.
    rate: f64,
}

/// The responses under one bound.
#[derive(Debug, Default)]
struct Window {
    /// Responses to batches before this one do not count: they were sent under another bound, or over new connections.
    first_batch: u64,
    /// The time of the first response.
    began: Option<Instant>,
    answers: usize,
    throttled: usize,
    sent: usize,
    /// Batches that had waited for the bound when they were sent.
    limited: usize,
}

impl Limit {
    pub(crate) fn new(in_flight: InFlight) -> Self {
        let (max, is_fixed) = match in_flight {
            InFlight::Adaptive { max } => (max.max(1), false),
            InFlight::Fixed(bound) => (bound.max(1), true),
        };
        let bound = if is_fixed { max } else { START.min(max) };
        Self {
            max,
            bound,
            is_fixed,
            step: bound,
            trial: None,
            throttled_at: None,
            window: Window::default(),
            is_limited: false,
            next_trial: None,
            patience: INITIAL_PATIENCE,
        }
    }

    pub(crate) fn bound(&self) -> usize {
        self.bound
    }

    /// Notes whether a full batch waits for the bound.
    pub(crate) fn note_waiting(&mut self, is_limited: bool) {
        self.is_limited = is_limited;
    }

    /// Notes that a batch is sent.
    pub(crate) fn sent(&mut self) {
        self.window.sent += 1;
        self.window.limited += usize::from(self.is_limited);
    }

    /// Takes the response to the batch with this number into account. `next_batch` is the number of the next one.
    pub(crate) fn answered(&mut self, now: Instant, number: u64, next_batch: u64, is_throttle: bool) {
        if self.is_fixed || number < self.window.first_batch {
            return;
        }
        let window = &mut self.window;
        let Some(began) = window.began else {
            window.began = Some(now);
            return;
        };
        window.answers += 1;
        window.throttled += usize::from(is_throttle);
        let elapsed = now.saturating_duration_since(began);
        let is_enough = window.answers >= self.bound.max(MIN_ANSWERS) && elapsed >= MIN_TIME;
        if !is_enough && elapsed < MAX_TIME {
            return;
        }
        let before = self.bound;
        self.judge(now, elapsed);
        let is_new = self.bound != before;
        let first_batch = if is_new { next_batch.saturating_add(self.bound as u64) } else { 0 };
        self.window = Window { first_batch, began: (!is_new).then_some(now), ..Window::default() };
    }

    /// Decides about the bound at the end of a window.
    fn judge(&mut self, now: Instant, elapsed: Duration) {
        let Window { answers, throttled, sent, limited, .. } = self.window;
        if throttled.saturating_mul(TOLERATED) > answers {
            let accepted = answers.saturating_sub(throttled);
            self.throttled_at = Some(self.bound);
            self.bound = self.bound.saturating_mul(accepted).div_ceil(answers.max(1)).max(1);
            return self.wait(now, 1);
        }
        let rate = per_second(answers - throttled, elapsed);
        if let Some(Trial { from, rate: before }) = self.trial.take() {
            if self.throttled_at.is_none() && rate < before * least_gain(from, self.bound) {
                self.bound = from;
                return self.wait(now, from.div_ceil(2));
            }
            self.step = self.step.saturating_mul(2);
            if self.throttled_at.take_if(|at| *at < self.bound).is_some() || self.throttled_at.is_none() {
                self.patience = INITIAL_PATIENCE;
            }
        }
        if limited.saturating_mul(2) < sent || sent == 0 {
            return;
        }
        if self.bound < self.max && self.next_trial.is_none_or(|at| at <= now) {
            self.trial = Some(Trial { from: self.bound, rate });
            self.bound = self.bound.saturating_add(self.step).min(self.max);
        }
    }

    /// Postpones the next trial, which raises the bound by `step`.
    fn wait(&mut self, now: Instant, step: usize) {
        self.trial = None;
        self.step = step;
        self.next_trial = Some(now + self.patience);
        self.patience = (self.patience * 2).min(MAX_PATIENCE);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of batches are small")]
fn per_second(batches: usize, elapsed: Duration) -> f64 {
    batches as f64 / elapsed.as_secs_f64().max(1e-6)
}

/// The factor by which the rate must rise: a quarter of the rise if nothing but the bound limited it.
#[expect(clippy::cast_precision_loss, reason = "bounds are small")]
fn least_gain(from: usize, to: usize) -> f64 {
    1.0 + (to as f64 / from as f64 - 1.0) / 4.0
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A service that responds after `latency`, or later if it gets more than `per_second` batches, or refuses the
    /// excess.
    #[derive(Clone, Copy)]
    struct Service {
        latency: Duration,
        per_second: f64,
        refuses: bool,
    }

    /// Keeps a lane busy for a while. Returns the accepted batches per second in the last third of the time.
    fn busy(limit: &mut Limit, service: Service, seconds: f64, now: &mut Instant, number: &mut u64) -> f64 {
        let begin = *now;
        let end = begin + Duration::from_secs_f64(seconds);
        let mut in_flight: VecDeque<(Instant, u64, bool)> = VecDeque::new();
        let (mut free_at, mut accepted, share) =
            (begin, 0_u32, Duration::from_secs_f64(1.0 / service.per_second));
        while *now < end {
            while in_flight.len() < limit.bound() {
                let (refused, done) = if service.refuses {
                    // A token bucket for a tenth of a second.
                    let refused = free_at > *now + Duration::from_millis(100);
                    free_at = if refused { free_at } else { free_at.max(*now) + share };
                    (refused, *now + service.latency)
                } else {
                    free_at = free_at.max(*now) + share;
                    (false, free_at + service.latency)
                };
                in_flight.push_back((done, *number, refused));
                *number += 1;
                limit.sent();
                limit.note_waiting(true);
            }
            let (done, batch, refused) = in_flight.pop_front().unwrap();
            *now = (*now).max(done);
            limit.answered(*now, batch, *number, refused);
            let is_late = (*now - begin).as_secs_f64() > seconds * 2.0 / 3.0;
            accepted += u32::from(!refused && is_late);
        }
        f64::from(accepted) / (seconds / 3.0)
    }

    fn service(latency_ms: u64, per_second: f64) -> Service {
        Service { latency: Duration::from_millis(latency_ms), per_second, refuses: false }
    }

    fn start() -> (Limit, Instant, u64) {
        (Limit::new(InFlight::Adaptive { max: 100 }), Instant::now(), 0)
    }

    #[test]
    fn slow_responses_raise_the_bound_to_its_maximum() {
        for (latency, seconds) in [(5, 1.0), (20, 2.0), (100, 3.0)] {
            let (mut limit, mut now, mut number) = start();
            let rate = busy(&mut limit, service(latency, 1e6), seconds, &mut now, &mut number);
            let best = 100.0 * 1000.0 / f64::from(u32::try_from(latency).unwrap());
            assert!(rate > 0.9 * best, "{latency} ms: {rate} of {best} batches a second");
        }
    }

    #[test]
    fn bound_stays_low_when_the_service_is_the_limit() {
        let (mut limit, mut now, mut number) = start();
        let rate = busy(&mut limit, service(1, 4_000.0), 5.0, &mut now, &mut number);
        assert!(rate > 0.95 * 4_000.0, "{rate}");
        assert!(limit.bound() <= 20, "{}", limit.bound());
    }

    #[test]
    fn throttled_lane_uses_what_is_allowed_and_recovers() {
        for allowed in [50.0, 900.0, 3_000.0] {
            let (mut limit, mut now, mut number) = start();
            let quiet = service(20, 1e6);
            busy(&mut limit, quiet, 2.0, &mut now, &mut number);
            assert_eq!(limit.bound(), 100);
            let throttled = Service { per_second: allowed, refuses: true, ..quiet };
            let rate = busy(&mut limit, throttled, 6.0, &mut now, &mut number);
            assert!(rate > 0.9 * allowed, "{rate} of {allowed} batches a second");
            let needed = allowed * 0.02;
            let bound = f64::from(u32::try_from(limit.bound()).unwrap());
            assert!(bound <= needed * 1.3 + 2.0, "{bound} where {needed} are allowed");
            busy(&mut limit, quiet, 12.0, &mut now, &mut number);
            assert_eq!(limit.bound(), 100, "after it recovered");
        }
    }

    #[test]
    fn lane_that_has_slots_left_keeps_its_bound() {
        let (mut limit, mut now, _) = start();
        for number in 0..1_000 {
            now += Duration::from_millis(5);
            limit.sent();
            limit.answered(now, number, number + 1, false);
        }
        assert_eq!(limit.bound(), START);
    }

    #[test]
    fn fixed_bound_stays() {
        let (mut limit, mut now, mut number) = (Limit::new(InFlight::Fixed(3)), Instant::now(), 0);
        let throttled = Service { per_second: 10.0, refuses: true, ..service(20, 1e6) };
        busy(&mut limit, throttled, 1.0, &mut now, &mut number);
        assert_eq!(limit.bound(), 3);
    }
}
