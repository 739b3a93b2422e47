//! From a fault to its JSON.

use std::time::Duration;

use super::Fault;
use super::effect::{Effect, End, Ending, Failure};
use super::spec::{EffectName, Spec};

impl From<&Fault> for Spec {
    fn from(fault: &Fault) -> Self {
        let entry = &fault.filter.entry;
        Self {
            actions: fault.filter.action_names(),
            queue: fault.filter.queue.clone(),
            group: entry.group.clone(),
            body_contains: entry.body.clone(),
            entries: entry.indices.clone(),
            skip: fault.skip,
            times: fault.times,
            above: fault.spared_per_second,
            #[cfg(feature = "s3")]
            service: fault.filter.s3.as_ref().map(|_| super::spec_s3::ServiceName::S3),
            #[cfg(feature = "s3")]
            bucket: fault.filter.s3.as_ref().and_then(|s3| s3.bucket.clone()),
            #[cfg(feature = "s3")]
            key_prefix: fault.filter.s3.as_ref().and_then(|s3| s3.key_prefix.clone()),
            probability: Some(fault.probability).filter(|probability| *probability < 1.0),
            ..Self::of_effect(&fault.effect)
        }
    }
}

impl Spec {
    fn of_effect(effect: &Effect) -> Self {
        let plain = |effect| Self { effect, ..Self::default() };
        match effect {
            Effect::Latency(least, most) => Self {
                latency_ms: Some(milliseconds(*least)),
                max_latency_ms: (least != most).then(|| milliseconds(*most)),
                ..plain(EffectName::Latency)
            },
            Effect::FailEntries(failure) => {
                Self { effect: EffectName::FailEntries, ..Self::of_failure(failure) }
            }
            #[cfg(feature = "s3")]
            Effect::Pace(pace) => Self { bytes_per_second: Some(*pace), ..plain(EffectName::Pace) },
            Effect::OmitEntries => plain(EffectName::OmitEntries),
            Effect::Redeliver => plain(EffectName::Redeliver),
            Effect::End(End::Error(failure)) => {
                Self { effect: EffectName::Error, sender_fault: None, ..Self::of_failure(failure) }
            }
            Effect::End(End::Status(status, body)) => {
                Self { status: Some(*status), body: Some(body.clone()), ..plain(EffectName::Status) }
            }
            Effect::End(End::ResetBefore) => plain(EffectName::ResetBefore),
            Effect::End(End::Spoilt(Ending::Lost)) => plain(EffectName::ResetAfter),
            Effect::End(End::Spoilt(Ending::Truncated)) => plain(EffectName::Truncate),
            Effect::End(End::Spoilt(Ending::Corrupt | Ending::Whole)) => plain(EffectName::Corrupt),
        }
    }

    fn of_failure(failure: &Failure) -> Self {
        Self {
            code: Some(failure.code.query_code().to_owned()),
            message: failure.message.clone(),
            sender_fault: failure.sender_fault,
            ..Self::default()
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
