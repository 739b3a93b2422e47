//! Runs a batch handler.

use std::collections::HashMap;
use std::iter::repeat_with;
use std::sync::Arc;

use futures_util::future::join_all;
use sqs_client::client::Execute;
use tokio::sync::watch;
use tokio::time::Instant;

use super::groups::{Entry, Key};
use super::handling::{Verdict, ended, open, verdict};
use crate::consume::handler::{AnyBatchHandler, Failure, HandlerTask, MessageContext};
use crate::consume::observe::Observer;
use crate::consume::outcome::{HandlerError, Outcome};
use crate::consume::receive::Delivery;
use crate::consume::source::Source;
use crate::span::messaging_span;
use crate::trace_context::{SenderContext, link};

/// The messages of a batch by their lines, each in order.
pub(super) type Lines<T> = Vec<(Key, Vec<T>)>;

/// Runs a batch handler in its own task. If a message cannot be opened, or another consumer or receiver is handling it, that
/// message and the later ones of its line do not run.
pub(super) async fn handle_batch<H: Execute>(
    handler: &AnyBatchHandler,
    source: &Source<H>,
    mut lines: Lines<Entry<Delivery>>,
    observer: &Observer,
    stop: watch::Receiver<Option<Instant>>,
) -> Lines<(Entry<Delivery>, Verdict)> {
    let (claims, queue_url) = (source.client.claims(), &source.url);
    let all = lines.iter_mut().flat_map(|(_, entries)| entries);
    let opening = all.map(|entry| open(source, &mut entry.latest, observer, stop.clone()));
    let mut unopened: HashMap<Arc<str>, Verdict> = HashMap::new();
    let opened = join_all(opening).await;
    for (entry, opened) in lines.iter().flat_map(|(_, entries)| entries).zip(opened) {
        unopened.extend(opened.err().map(|verdict| (Arc::clone(entry.latest.id()), verdict)));
    }
    let mut claimed = Vec::new();
    let mut claim = |entry: &Entry<Delivery>| {
        let claim = claims.claim(queue_url, entry.latest.id());
        let claim = claim.filter(|_| !unopened.contains_key(entry.latest.id()));
        claim.map(|claim| claimed.push(claim)).is_some()
    };
    let run =
        |(_, entries): &(Key, Vec<Entry<Delivery>>)| entries.iter().take_while(|entry| claim(entry)).count();
    let runs: Vec<usize> = lines.iter().map(run).collect();
    let deliveries: Vec<&Delivery> = lines
        .iter()
        .zip(&runs)
        .flat_map(|((_, entries), runs)| entries.iter().take(*runs).map(|entry| &entry.latest))
        .collect();
    let context = |delivery: &&Delivery| {
        observer.tally.started.one();
        MessageContext::leased(Arc::clone(&delivery.message), delivery.lease.clone())
    };
    let contexts: Vec<_> = deliveries.iter().map(context).collect();
    let mut verdicts = Vec::new();
    if !contexts.is_empty() {
        let (began, handler, span) = (Instant::now(), handler.clone(), span(queue_url, &deliveries));
        let mut task = HandlerTask::spawn(SenderContext::current(), span, move || async move {
            // The claims end with the task, also when the task is stopped.
            let _claimed = claimed;
            Ok(handler.call(contexts).await)
        });
        let ended = ended(&mut task, stop).await;
        verdicts = verdicts_of(ended, &deliveries, began, observer);
    }
    let mut verdicts = verdicts.into_iter();
    let decide = |((key, entries), runs): ((Key, Vec<Entry<Delivery>>), usize)| {
        let mut ran = verdicts.by_ref().take(runs);
        let mut verdict = |entry: &Entry<Delivery>| {
            ran.next().or_else(|| unopened.remove(entry.latest.id())).unwrap_or(Verdict::Busy)
        };
        let decided = entries.into_iter().map(|entry| (verdict(&entry), entry));
        (key, decided.map(|(verdict, entry)| (entry, verdict)).collect())
    };
    lines.into_iter().zip(runs).map(decide).collect()
}

type Ended = Option<Result<Vec<Result<Outcome, HandlerError>>, Failure>>;

fn verdicts_of(ended: Ended, deliveries: &[&Delivery], began: Instant, observer: &Observer) -> Vec<Verdict> {
    let each = |results: &mut dyn Iterator<Item = Result<Outcome, Failure>>| {
        deliveries
            .iter()
            .zip(results)
            .map(|(delivery, ended)| verdict(ended, delivery.id(), began, observer))
            .collect()
    };
    match ended {
        Some(Ok(results)) => each(&mut results.into_iter().map(|result| result.map_err(Failure::Error))),
        Some(Err(failure)) => {
            let text = match failure {
                Failure::Panic(text) => text,
                Failure::Error(error) => error.to_string(),
            };
            let mut verdicts: Vec<_> = each(&mut repeat_with(|| Err(Failure::Panic(text.clone()))));
            // Only the first message reports the panic.
            verdicts.iter_mut().skip(1).for_each(|verdict| *verdict = Verdict::Failed(None));
            verdicts
        }
        None => {
            let aborted = |_: &&Delivery| {
                observer.tally.aborted.one();
                Verdict::Aborted
            };
            deliveries.iter().map(aborted).collect()
        }
    }
}

/// The span of a batch. It follows from the receives, and links to the senders.
fn span(queue_url: &str, deliveries: &[&Delivery]) -> tracing::Span {
    let span = messaging_span!(INFO "sqs.process", "consumer", "process", "process", queue_url,
        messaging.batch.message_count = deliveries.len());
    for delivery in deliveries {
        span.follows_from(&delivery.span);
    }
    link(&span, deliveries.iter().map(|delivery| &*delivery.message));
    span
}
