//! Invalid settings.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use sqs_client::wire::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES};

use crate::produce::lane::InFlight;
use crate::produce::settings::{MAX_OFFLOADED_BYTES, MIN_PAUSE, Settings};

/// A setting is out of range. The text names the setting, its value, and what is allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BuildError {
    setting: &'static str,
    value: String,
    allowed: String,
}

impl BuildError {
    pub(crate) fn new(setting: &'static str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self { setting, value: value.to_string(), allowed: allowed.to_string() }
    }

    /// The name of the setting: that of the builder's method, with the name of the value if there are several.
    pub fn setting(&self) -> &str {
        self.setting
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, allowed is {}", self.setting, self.value, self.allowed)
    }
}

impl std::error::Error for BuildError {}

fn within(setting: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), BuildError> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    let allowed = if most == usize::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
    Err(BuildError { setting, value: value.to_string(), allowed })
}

fn at_least(setting: &'static str, value: Duration, least: Duration) -> Result<(), BuildError> {
    if value >= least {
        return Ok(());
    }
    let (value, allowed) = (format!("{value:?}"), format!("{least:?} or more"));
    Err(BuildError { setting, value, allowed })
}

impl Settings {
    /// Checks all ranges.
    pub(super) fn check(&self) -> Result<(), BuildError> {
        const SOME: RangeInclusive<usize> = 1..=usize::MAX;
        within("batch_limits (entries)", self.limits.max_entries(), 1..=MAX_BATCH_ENTRIES)?;
        within("batch_limits (bytes)", self.limits.max_bytes(), 1..=MAX_BATCH_BYTES)?;
        match self.in_flight {
            InFlight::Adaptive { max } => within("in_flight (max)", max, SOME)?,
            InFlight::Fixed(batches) => within("in_flight", batches, SOME)?,
        }
        within("max_attempts", usize::try_from(self.retry.attempts).unwrap_or(usize::MAX), SOME)?;
        within("capacity (entries)", self.max_entries, SOME)?;
        within("capacity (bytes)", self.max_bytes, SOME)?;
        within("max_message_bytes", self.max_message_bytes, 1..=MAX_OFFLOADED_BYTES)?;
        if self.delivery_timeout == Duration::ZERO {
            let (value, allowed) = ("zero".to_owned(), "more than zero".to_owned());
            return Err(BuildError { setting: "delivery_timeout", value, allowed });
        }
        let (first, max) = (self.retry.first_pause, self.retry.max_pause);
        at_least("back_off (first)", first, MIN_PAUSE)?;
        at_least("back_off (max)", max, first)
    }
}
