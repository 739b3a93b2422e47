//! The rate limit of the `adaptive` mode. Pure: seconds since some start are a parameter.
//!
//! The published algorithm of the AWS SDKs: measure the rate of requests; when throttled, cut to 70 % of it;
//! then grow along a cubic curve that is flat around the rate at which throttling began. Before the first
//! throttling answer there is no limit.

/// How fast the client may send.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateLimiter {
    /// Requests a second; `None` until the service throttles for the first time.
    limit: Option<Limit>,
    measured: Measured,
}

#[derive(Clone, Copy, Debug)]
struct Limit {
    rate: f64,
    tokens: f64,
    filled_at: f64,
    rate_before: f64,
    throttled_at: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    rate: f64,
    bucket: f64,
    requests: f64,
}

const CUT: f64 = 0.7;
const GROWTH: f64 = 0.4;
const SMOOTHING: f64 = 0.8;
const MIN_RATE: f64 = 0.5;

impl RateLimiter {
    /// Takes leave for one request: how many seconds to wait before sending it. `None` when that would be longer
    /// than `at_most`; then nothing is taken.
    pub(crate) fn acquire(&mut self, now: f64, at_most: f64) -> Option<f64> {
        let Some(limit) = &mut self.limit else { return Some(0.0) };
        limit.fill(now);
        let wait = ((1.0 - limit.tokens) / limit.rate).max(0.0);
        if wait > at_most {
            return None;
        }
        limit.tokens -= 1.0;
        Some(wait)
    }

    /// Gives back the leave of a request that was not sent after all.
    pub(crate) fn give_back(&mut self) {
        if let Some(limit) = &mut self.limit {
            limit.tokens += 1.0;
        }
    }

    /// Learns from an answer.
    pub(crate) fn observe(&mut self, now: f64, throttled: bool) {
        self.measured.count(now);
        let target = match (&self.limit, throttled) {
            (None, false) => return,
            (limit, true) => {
                let before = limit.map_or(self.measured.rate, |limit| self.measured.rate.min(limit.rate));
                let (tokens, filled_at) = limit.map_or((0.0, now), |limit| (limit.tokens, limit.filled_at));
                let rate = limit.map_or(before, |limit| limit.rate).max(MIN_RATE);
                self.limit = Some(Limit { rate, tokens, filled_at, rate_before: before, throttled_at: now });
                before * CUT
            }
            (Some(limit), false) => limit.cubic(now),
        };
        let ceiling = 2.0 * self.measured.rate;
        if let Some(limit) = &mut self.limit {
            limit.fill(now);
            limit.rate = target.min(ceiling).max(MIN_RATE);
            limit.tokens = limit.tokens.min(limit.rate.max(1.0));
        }
    }
}

impl Limit {
    fn fill(&mut self, now: f64) {
        let elapsed = (now - self.filled_at).max(0.0);
        self.tokens = (self.tokens + elapsed * self.rate).min(self.rate.max(1.0));
        self.filled_at = now;
    }

    fn cubic(&self, now: f64) -> f64 {
        let back_at = (self.rate_before * (1.0 - CUT) / GROWTH).cbrt();
        let elapsed = now - self.throttled_at;
        GROWTH * (elapsed - back_at).powi(3) + self.rate_before
    }
}

impl Measured {
    /// Half-second buckets, smoothed.
    fn count(&mut self, now: f64) {
        let bucket = (now * 2.0).floor() / 2.0;
        self.requests += 1.0;
        if bucket > self.bucket {
            let current = self.requests / (bucket - self.bucket);
            self.rate = current * SMOOTHING + self.rate * (1.0 - SMOOTHING);
            self.requests = 0.0;
            self.bucket = bucket;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends at `rate` a second for `seconds`, from `start`; every request is answered at once.
    fn steady(limiter: &mut RateLimiter, start: f64, seconds: u32, rate: u32) -> f64 {
        let mut now = start;
        for _ in 0..seconds * rate {
            now += 1.0 / f64::from(rate);
            limiter.acquire(now, f64::INFINITY);
            limiter.observe(now, false);
        }
        now
    }

    #[test]
    fn nothing_waits_before_the_first_throttling() {
        let mut limiter = RateLimiter::default();
        steady(&mut limiter, 0.0, 5, 100);
        assert!((0..1_000).all(|_| limiter.acquire(5.0, 0.0) == Some(0.0)));
    }

    #[test]
    fn throttling_cuts_the_rate_and_time_brings_it_back() {
        let mut limiter = RateLimiter::default();
        let now = steady(&mut limiter, 0.0, 5, 100);
        limiter.observe(now, true);
        let cut = limiter.limit.expect("limited").rate;
        assert!((60.0..80.0).contains(&cut), "cut to {cut} of about 100 a second");
        steady(&mut limiter, now, 10, 100);
        let back = limiter.limit.expect("limited").rate;
        assert!(back > 100.0, "grown to {back}");
    }

    #[test]
    fn a_burst_waits_its_turn() {
        let mut limiter = RateLimiter::default();
        let now = steady(&mut limiter, 0.0, 5, 10);
        limiter.observe(now, true);
        let waits: Vec<f64> = (0..20).filter_map(|_| limiter.acquire(now, f64::INFINITY)).collect();
        assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]), "first come, first served: {waits:?}");
        assert!(waits.last().is_some_and(|last| *last > 1.0));
    }

    #[test]
    fn who_cannot_wait_takes_nothing_from_those_who_can() {
        let mut limiter = RateLimiter::default();
        let now = steady(&mut limiter, 0.0, 5, 10);
        limiter.observe(now, true);
        while limiter.acquire(now, 0.0).is_some() {}
        let wait = limiter.acquire(now, f64::INFINITY);
        limiter.give_back();
        assert!((0..100).all(|_| limiter.acquire(now, 0.01).is_none()));
        assert_eq!(limiter.acquire(now, f64::INFINITY), wait);
    }
}
