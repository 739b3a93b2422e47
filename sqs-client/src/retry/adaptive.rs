//! The rate limiter of the `adaptive` mode. Pure: the time is a parameter, in seconds since any fixed start.
//!
//! Implements the algorithm of the AWS SDKs. It measures the request rate. A throttling error cuts the rate to 70 %. Then
//! the rate grows along a cubic curve that is flat around the rate at which throttling began. There is no limit before the
//! first throttling error.

/// Limits the request rate of a client with a token bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateLimiter {
    /// `None` until the first throttling error.
    limit: Option<Limit>,
    measured: MeasuredRate,
}

#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Requests per second.
    rate: f64,
    tokens: f64,
    refilled_at: f64,
    /// The rate at the latest throttling error.
    last_max_rate: f64,
    throttled_at: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct MeasuredRate {
    rate: f64,
    bucket: f64,
    requests: f64,
}

/// Factor of the rate after a throttling error.
const BETA: f64 = 0.7;
/// Scale of the cubic curve.
const SCALE_CONSTANT: f64 = 0.4;
/// Weight of the latest measurement.
const SMOOTHING: f64 = 0.8;
const MIN_RATE: f64 = 0.5;

impl RateLimiter {
    /// Takes a token for one request. Returns how many seconds to wait before sending it, or `None` if that is longer than
    /// `max_wait`; then it takes no token.
    pub(crate) fn acquire(&mut self, now: f64, max_wait: f64) -> Option<f64> {
        let Some(limit) = &mut self.limit else { return Some(0.0) };
        limit.refill(now);
        let wait = ((1.0 - limit.tokens) / limit.rate).max(0.0);
        if wait > max_wait {
            return None;
        }
        limit.tokens -= 1.0;
        Some(wait)
    }

    /// Returns the token of a request that was not sent.
    pub(crate) fn give_back(&mut self) {
        if let Some(limit) = &mut self.limit {
            limit.tokens += 1.0;
        }
    }

    /// Adjusts the rate after a response.
    pub(crate) fn observe(&mut self, now: f64, throttled: bool) {
        self.measured.count(now);
        let target = match (&self.limit, throttled) {
            (None, false) => return,
            (limit, true) => {
                let before = limit.map_or(self.measured.rate, |limit| self.measured.rate.min(limit.rate));
                let (tokens, refilled_at) =
                    limit.map_or((0.0, now), |limit| (limit.tokens, limit.refilled_at));
                let rate = limit.map_or(before, |limit| limit.rate).max(MIN_RATE);
                self.limit =
                    Some(Limit { rate, tokens, refilled_at, last_max_rate: before, throttled_at: now });
                before * BETA
            }
            (Some(limit), false) => limit.cubic(now),
        };
        let ceiling = 2.0 * self.measured.rate;
        if let Some(limit) = &mut self.limit {
            limit.refill(now);
            limit.rate = target.min(ceiling).max(MIN_RATE);
            limit.tokens = limit.tokens.min(limit.rate.max(1.0));
        }
    }
}

impl Limit {
    fn refill(&mut self, now: f64) {
        let elapsed = (now - self.refilled_at).max(0.0);
        self.tokens = (self.tokens + elapsed * self.rate).min(self.rate.max(1.0));
        self.refilled_at = now;
    }

    /// The rate on the cubic curve.
    fn cubic(&self, now: f64) -> f64 {
        let time_window = (self.last_max_rate * (1.0 - BETA) / SCALE_CONSTANT).cbrt();
        let elapsed = now - self.throttled_at;
        SCALE_CONSTANT * (elapsed - time_window).powi(3) + self.last_max_rate
    }
}

impl MeasuredRate {
    /// Counts a request in half-second buckets and smooths the rate.
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

    /// Sends `rate` requests per second for `seconds`, from `start`. All succeed immediately. Returns the end.
    fn send_steadily(limiter: &mut RateLimiter, start: f64, seconds: u32, rate: u32) -> f64 {
        let mut now = start;
        for _ in 0..seconds * rate {
            now += 1.0 / f64::from(rate);
            limiter.acquire(now, f64::INFINITY);
            limiter.observe(now, false);
        }
        now
    }

    #[test]
    fn requests_do_not_wait_before_the_first_throttling_error() {
        let mut limiter = RateLimiter::default();
        send_steadily(&mut limiter, 0.0, 5, 100);
        assert!((0..1_000).all(|_| limiter.acquire(5.0, 0.0) == Some(0.0)));
    }

    #[test]
    fn throttling_cuts_the_rate_and_it_recovers_over_time() {
        let mut limiter = RateLimiter::default();
        let now = send_steadily(&mut limiter, 0.0, 5, 100);
        limiter.observe(now, true);
        let cut = limiter.limit.expect("limited").rate;
        assert!((60.0..80.0).contains(&cut), "cut to {cut} from about 100 per second");
        send_steadily(&mut limiter, now, 10, 100);
        let back = limiter.limit.expect("limited").rate;
        assert!(back > 100.0, "recovered to {back} per second");
    }

    #[test]
    fn burst_after_throttling_waits_in_order() {
        let mut limiter = RateLimiter::default();
        let now = send_steadily(&mut limiter, 0.0, 5, 10);
        limiter.observe(now, true);
        let waits: Vec<f64> = (0..20).filter_map(|_| limiter.acquire(now, f64::INFINITY)).collect();
        assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]), "waits must not decrease: {waits:?}");
        assert!(waits.last().is_some_and(|last| *last > 1.0));
    }

    #[test]
    fn acquire_that_would_wait_too_long_takes_no_token() {
        let mut limiter = RateLimiter::default();
        let now = send_steadily(&mut limiter, 0.0, 5, 10);
        limiter.observe(now, true);
        while limiter.acquire(now, 0.0).is_some() {}
        let wait = limiter.acquire(now, f64::INFINITY);
        limiter.give_back();
        assert!((0..100).all(|_| limiter.acquire(now, 0.01).is_none()));
        assert_eq!(limiter.acquire(now, f64::INFINITY), wait);
    }
}
