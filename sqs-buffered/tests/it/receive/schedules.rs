//! Random schedules: handlers that do anything, and a service that fails in all ways. A failure prints the seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use sqs_buffered::{BackOff, Consumer, GroupAdvance, HandlerError, Lease, Outcome, ReceiveEvent, Report};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use tokio::time::sleep;

use super::super::rig::number;
use super::diary::{Diary, Start};
use super::rig::{Rig, millis, secs};

/// The possible disturbances of a run.
#[derive(Clone, Copy)]
struct Weather {
    /// The maximum probability of each fault.
    faults: f64,
    /// Whether the response to a receive may be lost. Its messages are then hidden without anyone knowing.
    loses_receives: bool,
    /// Whether messages may be delivered again while they are held.
    redelivers: bool,
    /// Whether the consumer has a batch handler.
    in_batches: bool,
}

fn inject(rig: &Rig, weather: Weather, random: &mut fastrand::Rng) {
    let settle = |fault: Fault| fault.on(Action::DeleteMessageBatch).on(Action::ChangeMessageVisibilityBatch);
    let mut chance = || random.f64() * weather.faults;
    let mut faults = vec![
        settle(Fault::fail_entries(ErrorCode::InternalFailure)).probability(chance()),
        settle(Fault::omit_entries()).probability(chance()),
        settle(Fault::reset_before()).probability(chance()),
        settle(Fault::reset_after()).probability(chance()),
        settle(Fault::truncate()).probability(chance()),
        settle(Fault::throttle()).probability(chance()),
        Fault::throttle().on(Action::ReceiveMessage).probability(chance()),
        Fault::reset_before().on(Action::ReceiveMessage).probability(chance()),
        Fault::status(503, "busy").on(Action::ReceiveMessage).probability(chance()),
        Fault::latency_between(millis(0), millis(300)).probability(chance()),
    ];
    if weather.loses_receives {
        faults.push(Fault::reset_after().on(Action::ReceiveMessage).probability(chance()));
    }
    if weather.redelivers {
        faults.push(Fault::redeliver().probability(chance()));
    }
    for fault in faults {
        rig.server.faults().inject(fault);
    }
}

/// The actions of a handler, derived from the seed: usually some work, and then anything.
async fn handle(lease: Lease, chance: u64, longest: u64) -> Result<Outcome, HandlerError> {
    let work = sleep(millis(chance % longest));
    tokio::select! {
        () = work => {}
        () = lease.lost(), if chance.is_multiple_of(2) => return Err("lost")?,
    }
    match chance / 16 % 12 {
        0 => Err("failed")?,
        // Without the panic hook, which would print it.
        1 => std::panic::resume_unwind(Box::new("a panic")),
        2 => Ok(Outcome::Release),
        3 => Ok(Outcome::Nack(secs(0))),
        4 => Ok(Outcome::Nack(millis(chance % 3_000))),
        _ => Ok(Outcome::Ack),
    }
}

/// Handles the messages of a batch one after the other. A message of a group is handled only if the previous one
/// succeeded.
async fn handle_all<R: Future<Output = Result<Outcome, HandlerError>>>(
    messages: Vec<(Arc<Message>, Lease)>,
    run: Arc<impl Fn(Arc<Message>, Lease, u64) -> R>,
) -> Vec<Result<Outcome, HandlerError>> {
    let (mut outcomes, mut failed) = (Vec::new(), BTreeSet::new());
    for (message, lease) in messages {
        let group = message
            .attributes()
            .and_then(|all| all.get(&MessageSystemAttributeName::MessageGroupId))
            .cloned();
        if failed.contains(&group) {
            outcomes.push(Ok(Outcome::Ack));
            continue;
        }
        let outcome = run(message, lease.clone(), 900).await;
        if !matches!(outcome, Ok(Outcome::Ack)) || lease.is_lost() {
            failed.insert(group);
        }
        outcomes.push(outcome);
    }
    outcomes
}

struct Played {
    rig: Rig,
    report: Report,
    diary: Diary,
    /// Messages that are hidden after the longest delay that a handler or the back-off has requested.
    hidden: BTreeSet<String>,
    /// Messages whose last event was a lost lease or a failure to settle them.
    unknown: BTreeSet<String>,
    /// Receipt handles whose lease was lost, and the number of requests at that time.
    lost: BTreeMap<String, usize>,
    in_batches: bool,
}

/// Runs a schedule: messages, faults, and a shutdown at any time.
async fn play(name: &'static str, weather: Weather, seed: u64) -> Played {
    let mut random = fastrand::Rng::with_seed(seed);
    // Jitter and ids come from the generator of the thread, which this line seeds.
    fastrand::seed(seed);
    let server = MockSqs::builder().seed(seed).in_process().unwrap();
    // Without retries below, every request comes from this crate.
    let retry = if random.bool() { RetryConfig::standard() } else { RetryConfig::disabled() };
    let rig = Rig::with(server, name, retry).await;
    rig.set(QueueAttributeName::VisibilityTimeout, &random.u32(4..12).to_string()).await;
    for number in 0..random.u32(1..40) {
        let group = random.u32(0..5);
        rig.send_to(&group.to_string(), [format!("{number:03}")]).await;
    }
    inject(&rig, weather, &mut random);
    let diary = Diary::default();
    let (lost, unknown) = (Arc::new(Mutex::new(BTreeMap::new())), Arc::new(Mutex::new(BTreeSet::new())));
    let (seen, losses, log, told) = (diary.clone(), Arc::clone(&lost), rig.log(), Arc::clone(&unknown));
    let chances = Mutex::new(fastrand::Rng::with_seed(random.u64(..)));
    let builder = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(random.usize(1..12))
        .prefetch(random.usize(0..25))
        .back_off(if random.bool() { BackOff::None } else { BackOff::Fixed(secs(1)) })
        .group_advance(if random.u8(0..4) == 0 {
            GroupAdvance::AfterHandler
        } else {
            GroupAdvance::AfterDelete
        })
        .grace(secs(60))
        .on_event(move |event| {
            let mut unknown = told.lock().unwrap();
            match event {
                ReceiveEvent::LeaseLost { message_id, .. }
                | ReceiveEvent::SettleFailed { message_id, .. } => {
                    unknown.insert((*message_id).to_owned());
                }
                ReceiveEvent::Settled { message_id, .. } => {
                    unknown.remove(*message_id);
                }
                _ => {}
            }
        });
    // Runs the handler for one message, and notes its result.
    let run = move |message: Arc<Message>, lease: Lease, longest: u64| {
        let page = seen.start(&message);
        let chance = chances.lock().unwrap().u64(..);
        let (losses, log) = (Arc::clone(&losses), Arc::clone(&log));
        async move {
            let noting = async {
                lease.lost().await;
                let requests = log.lock().unwrap().len();
                losses.lock().unwrap().insert(lease.receipt_handle().to_owned(), requests);
                std::future::pending::<()>().await;
            };
            let outcome = tokio::select! {
                biased;
                () = noting => Err("it goes on for ever")?,
                outcome = handle(lease.clone(), chance, longest) => outcome,
            };
            // Also if the lease is lost: a later delivery may delete the message.
            if matches!(outcome, Ok(Outcome::Ack)) {
                page.acked();
            }
            drop(page);
            outcome
        }
    };
    let consumer = if weather.in_batches {
        let builder = builder.batch_size(random.usize(1..25)).batch_window(millis(random.u64(0..2_000)));
        let run = Arc::new(run);
        builder
            .batch_handler(move |messages: Vec<(Arc<Message>, Lease)>| handle_all(messages, Arc::clone(&run)))
    } else {
        builder.message_handler(move |message, lease| run(message, lease, 9_000))
    };
    let consumer = consumer.build().unwrap();
    let length = millis(random.u64(0..90_000));
    let enough = async {
        let until = tokio::time::Instant::now() + length;
        while tokio::time::Instant::now() < until && rig.left() > 0 {
            sleep(millis(500)).await;
        }
    };
    let report = consumer.run_until(enough).await.unwrap();
    sleep(millis(3_100)).await;
    let hidden = rig.hidden();
    let (lost, unknown) = (lost.lock().unwrap().clone(), unknown.lock().unwrap().clone());
    Played { rig, report, diary, hidden, unknown, lost, in_batches: weather.in_batches }
}

/// Checks the properties of all schedules.
fn check(played: &Played, context: &str) {
    let Played { rig, report, diary, .. } = played;
    let stats = report.stats;
    let ended = stats.acked
        + stats.nacked
        + stats.released
        + stats.kept
        + stats.dead_lettered
        + stats.returned
        + stats.deleting;
    let held = u64::try_from(stats.held).unwrap();
    assert_eq!(
        stats.received,
        ended + stats.leases_lost + stats.unsettled + held,
        "{context}: I1: {report:?}"
    );
    assert!(held == 0 || !report.is_clean, "{context}: only what a storm holds up: {report:?}");
    assert_eq!(stats.receiving, 0, "{context}: {report:?}");
    assert!(
        diary.overlapping().is_empty(),
        "{context}: two deliveries of {:?} ran at once",
        diary.overlapping()
    );
    let handled = u64::try_from(diary.bodies().len()).unwrap();
    // In a batch, messages behind a failure do not run.
    assert!(stats.started == handled || (played.in_batches && stats.started > handled), "{context}");
    rig.check_requests(&played.lost, context);
}

/// No message is hidden after the end for longer than its handler or the back-off requested, except while it is being deleted.
/// Messages that were lost or could not be given back are not checked.
fn check_nothing_is_hidden(played: &Played, context: &str) {
    let Played { hidden, unknown, report, .. } = played;
    let stay = u64::try_from(hidden.difference(unknown).count()).unwrap();
    assert!(stay <= report.stats.deleting, "{context}: I10: {hidden:?} hidden, {unknown:?}, {report:?}");
}

/// Messages of a group start in the order in which they were sent. A message starts only after a start of each earlier
/// one has succeeded.
fn check_order(played: &Played, groups: &BTreeMap<String, Vec<String>>, context: &str) {
    for (group, sent) in groups {
        let starts = played.diary.starts_of(group);
        let mut furthest = 0;
        for Start { body, is_acked, .. } in &starts {
            let place = sent.iter().position(|other| other == body).expect("it was sent");
            assert!(place <= furthest, "{context}: I13: {body} of group {group} too early: {starts:?}");
            if place == furthest && *is_acked {
                furthest += 1;
            }
        }
    }
}

/// Runs this many schedules, or as many as the environment variable `SCHEDULES` says, from the seed `FIRST_SCHEDULE` on.
async fn played(name: &'static str, weather: Weather, count: u64) -> Vec<(String, Played)> {
    let first = number("FIRST_SCHEDULE").unwrap_or(0);
    let mut all = Vec::new();
    for seed in first..first + number("SCHEDULES").unwrap_or(count) {
        let context = format!("{name}, seed {seed}");
        let played = play(name, weather, seed).await;
        check(&played, &context);
        all.push((context, played));
    }
    all
}

const CALM: Weather = Weather { faults: 0.0, loses_receives: false, redelivers: false, in_batches: false };
const ROUGH: Weather = Weather { faults: 0.15, loses_receives: false, redelivers: false, in_batches: false };
const STORM: Weather = Weather { faults: 0.5, loses_receives: true, redelivers: true, in_batches: false };

#[tokio::test(start_paused = true)]
async fn schedules_without_faults_hide_no_message_and_lose_no_lease() {
    for (context, played) in played("calm", CALM, 10).await {
        let stats = played.report.stats;
        assert_eq!((stats.leases_lost, stats.unsettled, stats.duplicates), (0, 0, 0), "{context}");
        check_nothing_is_hidden(&played, &context);
    }
}

#[tokio::test(start_paused = true)]
async fn schedules_with_faults_end_every_delivery_once_and_hide_no_message() {
    let all = played("rough", ROUGH, 15).await;
    for (context, played) in &all {
        check_nothing_is_hidden(played, context);
    }
    // Messages that are not checked must be rare.
    let known = all.iter().filter(|(_, played)| played.unknown.is_empty()).count();
    assert!(known * 10 >= all.len() * 9, "{known} of {} schedules know of all messages", all.len());
}

#[tokio::test(start_paused = true)]
async fn schedules_with_redeliveries_end_every_delivery_once_and_never_overlap() {
    let all = played("storm", STORM, 15).await;
    let total = |of: fn(&Report) -> u64| all.iter().map(|(_, played)| of(&played.report)).sum::<u64>();
    let half = all.len() as u64 / 2;
    assert!(total(|report| report.stats.duplicates) > half, "the storm blows");
    assert!(
        total(|report| report.stats.leases_lost) > 0 && total(|report| report.stats.receive_errors) > half
    );
}

/// Each group of a FIFO queue starts in order, and no message stays hidden.
async fn check_fifo(name: &'static str, weather: Weather, count: u64) {
    for (context, played) in played(name, weather, count).await {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for sent in played.rig.sent_of(Action::SendMessage) {
            let text = |member: &str| sent.body[member].as_str().unwrap_or_default().to_owned();
            groups.entry(text("MessageGroupId")).or_default().push(text("MessageBody"));
        }
        check_order(&played, &groups, &context);
        if !weather.loses_receives {
            check_nothing_is_hidden(&played, &context);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fifo_schedules_start_each_group_in_order() {
    for (name, weather, count) in
        [("calm.fifo", CALM, 8), ("rough.fifo", ROUGH, 15), ("storm.fifo", STORM, 15)]
    {
        check_fifo(name, weather, count).await;
    }
}

#[tokio::test(start_paused = true)]
async fn batches_of_fifo_queues_start_each_group_in_order() {
    for (name, weather, count) in [("calm.fifo", CALM, 3), ("rough.fifo", ROUGH, 6), ("storm.fifo", STORM, 6)]
    {
        check_fifo(name, Weather { in_batches: true, ..weather }, count).await;
    }
}

#[tokio::test(start_paused = true)]
async fn batches_of_standard_queues_end_every_delivery_once() {
    for (name, weather) in [("calm", CALM), ("rough", ROUGH), ("storm", STORM)] {
        for (context, played) in played(name, Weather { in_batches: true, ..weather }, 4).await {
            if !weather.loses_receives {
                check_nothing_is_hidden(&played, &context);
            }
        }
    }
}
