//! Waits over HTTP for numbers of messages in a queue.

use std::time::Duration;

use serde_json::json;

use super::answer::{Answered, Refusal, json};
use super::ask::{Ask, Parameters};
use super::queues::home;
use crate::service::arn::QueueArn;
use crate::sqs::ops::Counts;

const WANTED: [&str; 4] = ["available", "in_flight", "delayed", "total"];
/// The maximum and the default timeout, in seconds of real time.
const LONGEST: usize = 60;
const USUAL: usize = 5;

/// The expected numbers of messages; missing ones are not checked.
struct Wanted([Option<usize>; 4]);

impl Wanted {
    fn read(parameters: &Parameters<'_>) -> Result<Self, Refusal> {
        let mut wanted = [None; 4];
        for (number, name) in wanted.iter_mut().zip(WANTED) {
            if parameters.get(name).is_some() {
                *number = Some(parameters.number(name, 0..=usize::MAX, 0)?);
            }
        }
        if wanted.iter().all(Option::is_none) {
            let all = WANTED.join(", ");
            return Err(Refusal::bad(format!("no condition; set one or more of {all}")));
        }
        Ok(Self(wanted))
    }

    fn is_met_by(&self, counts: Counts) -> bool {
        let mut pairs = self.0.iter().zip(numbers(counts));
        pairs.all(|(wanted, number)| wanted.is_none_or(|wanted| wanted == number))
    }
}

fn numbers(counts: Counts) -> [usize; 4] {
    let Counts { available, in_flight, delayed } = counts;
    [available, in_flight, delayed, available + in_flight + delayed]
}

/// `GET /_mock/wait`. The queue may be created later.
pub(super) async fn wait(ask: &Ask<'_>) -> Answered {
    let [available, in_flight, delayed, total] = WANTED;
    let allowed = ["queue", "region", "account", "timeout", available, in_flight, delayed, total];
    let parameters = ask.parameters(&allowed)?;
    let wanted = Wanted::read(&parameters)?;
    let seconds = parameters.number("timeout", 0..=LONGEST, USUAL)?;
    let (region, account) = home(ask, &parameters);
    let arn = QueueArn::named(parameters.required_queue()?, region, account);
    let service = ask.services.sqs.service();
    let look = || service.counts(&arn).filter(|counts| wanted.is_met_by(*counts));
    let timeout = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let met = tokio::select! {
        met = tokio::time::timeout(timeout, service.until(&arn, look)) => met.ok(),
        () = service.stopped() => return Err(Refusal::stopping()),
    };
    match met {
        Some(counts) => {
            let [available, in_flight, delayed, total] = numbers(counts);
            json(
                &json!({ "available": available, "in_flight": in_flight, "delayed": delayed, "total": total }),
            )
        }
        None => Err(Refusal::not_so(unmet(&arn, seconds, service.counts(&arn)))),
    }
}

fn unmet(arn: &QueueArn, seconds: usize, counts: Option<Counts>) -> String {
    match counts {
        Some(Counts { available, in_flight, delayed }) => format!(
            "waited {seconds} s for {arn}, which has {available} messages available, {in_flight} in flight and \
             {delayed} delayed"
        ),
        None => format!("waited {seconds} s for {arn}, which does not exist"),
    }
}
