//! Publishing messages.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinError;

use crate::control::arn::TopicArn;
use crate::control::faults::fault::FailingEntry;
use crate::query::xml::Xml;
use crate::query::{Actions, Call, Origin, Output, QueryError};
use crate::sns::actions::Place;
use crate::sns::deliveries::{Departure, Signed};
use crate::sns::engine::invalid;
use crate::sns::engine::message::{Draft, MAX_ENTRIES, Message, check_batch_ids};
use crate::sns::engine::topic::{MAX_SUBSCRIPTIONS_OF_FIFO, Published, Receipt, Topic};
use crate::sns::inspect::PublishedMessage;
use crate::sns::{SharedTopic, Sns, deliveries, engine, not_stored};

pub(crate) async fn one(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let target = call.form.get("TopicArn").or(call.form.get("TargetArn"));
    let Some(target) = target else { return to_phone(sns, call) };
    if target.split(':').nth(5).is_some_and(|resource| resource.starts_with("endpoint/")) {
        return Err(invalid("TargetArn Reason: No endpoint found for the target arn specified"));
    }
    let topic = sns.get_or_create(&engine::topic("TopicArn", target, call.region)?)?;
    let message = Message::new(Place::default().draft(call.form)?)?;
    let Progress { receipts, notes } = Publish::one(sns, call.origin, topic, message)?.run().await?;
    let receipt = receipts.first().copied();
    Ok(Output {
        notes,
        ..Output::of(|xml| receipt.into_iter().for_each(|receipt| write_receipt(xml, receipt)))
    })
}

/// Publishes a message as `Publish` does, and waits until it is stored.
///
/// # Errors
/// `NotFound`, `InvalidParameter` and the like; `ServiceUnavailable` if it cannot be stored.
pub(crate) async fn publish(
    sns: &Sns,
    base_url: &str,
    topic: &TopicArn,
    draft: Draft<'_>,
) -> Result<Receipt, QueryError> {
    Actions::check_store(sns)?;
    let (topic, message) = (sns.get_or_create(topic)?, Message::new(draft)?);
    let origin = Origin { base_url, trace_header: None };
    let published = Publish::one(sns, origin, topic, message)?.run().await;
    sns.changed();
    sns.queues.settled().await.map_err(not_stored)?;
    let receipt = published?.receipts.first().copied();
    receipt.ok_or_else(|| QueryError::new(500, "InternalError", "The topic has not taken the message."))
}

/// Publishes a message to a topic, without a pause. Returns notes about its deliveries.
///
/// # Errors
/// `InvalidParameter`.
#[cfg(feature = "s3")]
pub(crate) fn publish_message(
    sns: &Sns,
    origin: Origin<'_>,
    topic: Arc<SharedTopic>,
    message: Message,
) -> Result<Vec<String>, QueryError> {
    let mut publish = Publish::one(sns, origin, topic, message)?;
    while publish.step()? {}
    Ok(std::mem::take(&mut publish.progress.notes))
}

/// The subscriptions that are looked at while the topic is locked and commits are delayed. A batch for a FIFO topic fits
/// in one step, since nobody may publish in between, and a crash may not separate its deduplication ids from its
/// deliveries.
const STEP: usize = MAX_ENTRIES * MAX_SUBSCRIPTIONS_OF_FIFO;

/// The messages of a request on their way to the subscribers. Once a topic has taken one, dropping this delivers the others,
/// so that a request is not applied in part.
struct Publish {
    sns: Sns,
    base_url: Box<str>,
    trace_header: Option<Box<str>>,
    topic: Arc<SharedTopic>,
    /// Those that the topic has not taken.
    waiting: std::vec::IntoIter<(Message, Signed)>,
    under_way: Option<Departure>,
    progress: Progress,
}

/// The messages that a topic took.
#[derive(Debug, Default)]
struct Progress {
    /// In their order.
    receipts: Vec<Receipt>,
    /// About their deliveries.
    notes: Vec<String>,
}

impl Publish {
    /// Of a message, which is checked.
    fn one(
        sns: &Sns,
        origin: Origin<'_>,
        topic: Arc<SharedTopic>,
        message: Message,
    ) -> Result<Self, QueryError> {
        sns.lock(&topic).check(&message)?;
        Ok(Self::new(sns, origin, topic, vec![message]))
    }

    /// Of messages that were checked.
    fn new(sns: &Sns, origin: Origin<'_>, topic: Arc<SharedTopic>, messages: Vec<Message>) -> Self {
        let signed = messages.into_iter().map(|message| {
            let signed = deliveries::sign(sns, origin, &topic, &message);
            (message, signed)
        });
        Self {
            waiting: signed.collect::<Vec<_>>().into_iter(),
            sns: sns.clone(),
            base_url: origin.base_url.into(),
            trace_header: origin.trace_header.map(Into::into),
            topic,
            under_way: None,
            progress: Progress::default(),
        }
    }

    /// Delivers all messages. If that takes more than one step, a task takes the others: a caller who disconnects, which drops
    /// this future, changes nothing. Without a runtime, there is no task.
    async fn run(mut self) -> Result<Progress, QueryError> {
        if !self.step()? {
            return Ok(std::mem::take(&mut self.progress));
        }
        let Ok(runtime) = Handle::try_current() else { return self.finish().await };
        match runtime.spawn(self.finish()).await.map_err(JoinError::try_into_panic) {
            Ok(finished) => finished,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Err(QueryError::new(500, "InternalError", "The server was shut down.")),
        }
    }

    /// Takes the steps after the first. Others have their turn in between.
    async fn finish(mut self) -> Result<Progress, QueryError> {
        loop {
            // The store is slower: the changes of others would wait behind those of all steps. The last response tells
            // whether they are stored.
            let _ = self.sns.queues.settled().await;
            tokio::task::yield_now().await;
            if !self.step()? {
                // If the caller has left, nobody else tells.
                self.sns.changed();
                return Ok(std::mem::take(&mut self.progress));
            }
        }
    }

    /// Looks at some subscriptions. Returns whether there may be more.
    ///
    /// # Errors
    /// `NotFound` after a reset.
    fn step(&mut self) -> Result<bool, QueryError> {
        let (sns, shared) = (self.sns.clone(), Arc::clone(&self.topic));
        let (mut topic, _whole) = sns.lock_to_deliver(&shared)?;
        let mut most = STEP;
        while most > 0 {
            let Some(departure) = &mut self.under_way else {
                let Some((message, signed)) = self.waiting.next() else { return Ok(false) };
                self.under_way = self.take(&mut topic, message, signed);
                continue;
            };
            let origin = Origin { base_url: &self.base_url, trace_header: self.trace_header.as_deref() };
            let count = departure.proceed(&sns, origin, &topic, most);
            if count < most {
                self.arrived(topic.arn());
            }
            most -= count;
        }
        Ok(true)
    }

    /// The topic takes a message. `None` for a duplicate.
    fn take(&mut self, topic: &mut Topic, mut message: Message, signed: Signed) -> Option<Departure> {
        let now = self.sns.clock.now();
        let Published { receipt, is_new } = topic.publish(now, signed.id, &mut message);
        self.progress.receipts.push(receipt);
        is_new.then(|| Departure::new(now, message, receipt, signed))
    }

    /// The message under way has been delivered to all subscribers.
    fn arrived(&mut self, topic: &TopicArn) {
        let Some(departure) = self.under_way.take() else { return };
        let notes = departure.notes();
        self.progress.notes.extend(notes.iter().cloned());
        self.sns.published.record(|| {
            let Departure { message, receipt, time, .. } = departure;
            let Message { text, subject, attributes, group, deduplication_id, .. } = message;
            PublishedMessage {
                // The log sets it.
                number: 0,
                topic: topic.clone(),
                id: receipt.id,
                time,
                message: text,
                subject,
                attributes,
                group,
                deduplication_id,
                sequence_number: receipt.sequence_number,
                notes,
            }
        });
    }
}

impl Drop for Publish {
    fn drop(&mut self) {
        let has_more = |publish: &Self| publish.under_way.is_some() || publish.waiting.len() > 0;
        // A panic in a step would meet itself here.
        if self.progress.receipts.is_empty() || std::thread::panicking() {
            return;
        }
        while has_more(self) && self.step().is_ok() {}
    }
}

/// Text messages are accepted and recorded, not sent.
fn to_phone(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let number = call.form.get("PhoneNumber");
    let number =
        number.ok_or_else(|| invalid("TopicArn or TargetArn Reason: no value for required parameter"))?;
    Message::new(Place::default().draft(call.form)?)?;
    let receipt = Receipt { id: sns.new_id(), sequence_number: None };
    let notes = vec![format!("text message to {number:?} is recorded, not sent")];
    Ok(Output { notes, ..Output::of(|xml| write_receipt(xml, receipt)) })
}

pub(crate) async fn batch(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let form = call.form;
    let topic = crate::sns::actions::find_or_create(sns, call)?;
    let places = Place::entries(form);
    let ids: Vec<_> = places.iter().map(|place| place.required(form, "Id")).collect::<Result<_, _>>()?;
    check_batch_ids(&ids)?;
    let messages = places.iter().map(|place| Message::new(place.draft(form)?));
    let messages: Vec<_> = messages.collect::<Result<_, _>>()?;
    sns.lock(&topic).check_batch(&messages)?;
    let is_failing = |index: usize| call.failing.iter().any(|failing| failing.index == index);
    let entries = ids.iter().copied().zip(messages).enumerate();
    let (ids_taken, messages) =
        entries.filter(|(index, _)| !is_failing(*index)).map(|(_, entry)| entry).unzip();
    let ids_taken: Vec<_> = ids_taken;
    let Progress { receipts, notes } = Publish::new(sns, call.origin, topic, messages).run().await?;
    let receipts: Vec<_> = ids_taken.into_iter().zip(receipts).collect();
    let is_shown = |id: &str| !call.omitted.iter().any(|omitted| omitted == id);
    let output = Output::of(|xml| {
        let failed = call.failing.iter().filter_map(|failing| Some((*ids.get(failing.index)?, failing)));
        xml.list("Failed", failed, |member, (id, failing)| write_failure(member, id, failing));
        let successful = receipts.iter().filter(|(id, _)| is_shown(id));
        xml.list("Successful", successful, |member, (id, receipt)| {
            member.leaf("Id", id);
            write_receipt(member, *receipt);
        });
    });
    Ok(Output { notes, ..output })
}

fn write_failure(xml: &mut Xml, id: &str, failing: &FailingEntry) {
    let error = QueryError::injected(failing.failure.clone());
    xml.leaf("Id", id);
    xml.leaf("Code", &error.code);
    xml.leaf("Message", &error.message);
    let is_of_sender = failing.sender_fault.unwrap_or(error.status < 500);
    xml.leaf("SenderFault", if is_of_sender { "true" } else { "false" });
}

fn write_receipt(xml: &mut Xml, receipt: Receipt) {
    xml.leaf("MessageId", &receipt.id.to_string());
    let number = receipt.sequence_number.map(|number| number.to_string());
    xml.optional("SequenceNumber", number.as_deref());
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use parking_lot::Mutex;
    use sqs_client::wire::service_error::ServiceError;

    use super::*;
    #[cfg(feature = "s3")]
    use crate::control::arn::QueueArn;
    use crate::control::clock::Clock;
    #[cfg(feature = "s3")]
    use crate::control::delivery::Source;
    use crate::control::delivery::{Delivery, Queues, Settled, Undelivered, Whole};
    use crate::control::journal::Journal;
    use crate::control::policies::Why;
    use crate::control::seed::Seed;
    use crate::outgoing::Outgoing;
    use crate::outgoing::connect::Connector;
    use crate::outgoing::guard::Destinations;
    use crate::sns::Start;
    use crate::sns::engine::message::Draft;
    use crate::sns::engine::subscription::Endpoint;

    const ACCOUNT: &str = "000000000000";

    const ORIGIN: Origin<'_> = Origin { base_url: "http://localhost:9324", trace_header: None };

    /// Queues that note what they get.
    #[derive(Debug, Default)]
    struct Noted(Mutex<Vec<String>>);

    impl Queues for Noted {
        fn deliver(&self, delivery: Delivery<'_>) -> Result<Option<Why>, Undelivered> {
            self.0.lock().push(delivery.body.to_owned());
            Ok(None)
        }

        fn whole(&self) -> Whole<'_> {
            None
        }

        #[cfg(feature = "s3")]
        fn check(&self, _: &QueueArn, _: Source<'_>) -> Result<Option<Why>, Undelivered> {
            Ok(None)
        }

        fn check_store(&self) -> Result<(), ServiceError> {
            Ok(())
        }

        fn settled(&self) -> Settled<'_> {
            Box::pin(std::future::ready(Ok(())))
        }
    }

    /// A topic with raw subscriptions of this number of queues.
    fn topic_of(queues: usize) -> (Arc<Noted>, Sns, Arc<SharedTopic>) {
        topic_named("news", queues)
    }

    /// Queues of a FIFO topic are FIFO queues.
    fn topic_named(name: &str, queues: usize) -> (Arc<Noted>, Sns, Arc<SharedTopic>) {
        let noted = Arc::<Noted>::default();
        let sns = Sns::new(Start {
            queues: Arc::<Noted>::clone(&noted),
            outgoing: Arc::new(Outgoing::new(Connector::new(Destinations::default()), 0)),
            clock: Clock::real(),
            seed: Seed(1),
            journal: Arc::new(Journal::new(0)),
            published: 100,
            auto_create: false,
            reader: None,
        });
        let arn = TopicArn::new("us-east-1", ACCOUNT, name);
        let (attributes, end): (&[_], _) =
            if arn.is_fifo() { (&[("FifoTopic", "true")], ".fifo") } else { (&[], "") };
        sns.create_topic(("us-east-1", ACCOUNT), name, attributes, &[]).unwrap();
        for number in 0..queues {
            let queue = format!("arn:aws:sqs:us-east-1:{ACCOUNT}:{number}{end}").parse().unwrap();
            let raw = [("RawMessageDelivery", "true")];
            sns.subscribe_confirmed(&arn, (Endpoint::Queue(queue), ACCOUNT), &raw).unwrap();
        }
        let topic = sns.topics.get(&arn).unwrap();
        (noted, sns, topic)
    }

    fn publish(sns: &Sns, topic: &Arc<SharedTopic>, texts: &[&str]) -> Publish {
        let message = |text: &&str| Message::new(Draft { text, ..Draft::default() }).unwrap();
        Publish::new(sns, ORIGIN, Arc::clone(topic), texts.iter().map(message).collect())
    }

    #[test]
    fn message_reaches_many_queues_in_steps_between_which_the_topic_is_free() {
        let (noted, sns, topic) = topic_of(2 * STEP + 1);
        let mut long = publish(&sns, &topic, &["long"]);
        for delivered in [STEP, 2 * STEP] {
            assert!(long.step().unwrap());
            assert_eq!(noted.0.lock().len(), delivered);
        }
        assert!(topic.topic.try_lock().is_some());
        assert!(!long.step().unwrap());
        assert_eq!(noted.0.lock().len(), 2 * STEP + 1);
        assert_eq!(sns.published_to(&topic.topic.lock().arn().clone()).len(), 1);
    }

    #[test]
    fn batch_for_the_most_queues_of_a_fifo_topic_is_delivered_in_one_step() {
        let (noted, sns, topic) = topic_named("news.fifo", MAX_SUBSCRIPTIONS_OF_FIFO);
        let texts: Vec<_> = (0..MAX_ENTRIES).map(|number| number.to_string()).collect();
        let in_group = |text: &String| {
            let (group, deduplication_id) = (Some("g"), Some(text.as_str()));
            Message::new(Draft { text, group, deduplication_id, ..Draft::default() }).unwrap()
        };
        let messages: Vec<_> = texts.iter().map(in_group).collect();
        sns.lock(&topic).check_batch(&messages).unwrap();
        let mut batch = Publish::new(&sns, ORIGIN, topic, messages);
        batch.step().unwrap();
        assert_eq!(noted.0.lock().len(), STEP);
    }

    #[test]
    fn abandoned_publish_is_delivered_if_it_has_begun() {
        let (noted, sns, topic) = topic_of(STEP + 1);
        drop(publish(&sns, &topic, &["never"]));
        assert_eq!(noted.0.lock().len(), 0);
        let mut begun = publish(&sns, &topic, &["one", "two"]);
        begun.step().unwrap();
        drop(begun);
        assert_eq!(noted.0.lock().len(), 2 * (STEP + 1));
    }

    #[tokio::test]
    async fn publish_whose_caller_leaves_is_finished_by_a_task() {
        let (noted, sns, topic) = topic_of(2 * STEP + 1);
        {
            let request = pin!(publish(&sns, &topic, &["one"]).run());
            assert!(request.poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(noted.0.lock().len(), STEP, "the caller does not wait for the other steps");
        while noted.0.lock().len() <= 2 * STEP {
            tokio::task::yield_now().await;
        }
        assert_eq!(noted.0.lock().len(), 2 * STEP + 1);
    }

    #[test]
    fn publish_under_way_delivers_nothing_after_a_reset() {
        let (noted, sns, topic) = topic_of(STEP + 1);
        let mut begun = publish(&sns, &topic, &["one", "two"]);
        begun.step().unwrap();
        let mut late = publish(&sns, &topic, &["late"]);
        sns.reset();
        assert_eq!(begun.step().unwrap_err().code, "NotFound");
        assert_eq!(late.step().unwrap_err().code, "NotFound");
        drop(begun);
        assert_eq!(noted.0.lock().len(), STEP);
    }
}
