//! When events are delivered, and when not.
use super::*;
use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::delivery::{Announcement, Delivery, Publisher, Queues, Source, Undelivered};
use crate::control::policies::Why;
use crate::s3::notifications::{Changed, PUT, RequestedRule, TargetKind};

/// Queues that record what they get.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<String>>);

impl Queues for Recorder {
    fn deliver(&self, delivery: Delivery<'_>) -> Result<Option<Why>, Undelivered> {
        self.0.lock().push(delivery.body.to_owned());
        Ok(None)
    }

    fn check(&self, _: &QueueArn, _: Source<'_>) -> Result<Option<Why>, Undelivered> {
        Ok(None)
    }

    fn whole(&self) -> crate::control::delivery::Whole<'_> {
        None
    }

    fn check_store(&self) -> Result<(), sqs_client::wire::service_error::ServiceError> {
        Ok(())
    }

    fn settled(&self) -> crate::control::delivery::Settled<'_> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// There are no topics.
impl Publisher for Recorder {
    fn has_topic(&self, _: &str) -> bool {
        false
    }

    fn publish(&self, _: Announcement<'_>) -> Result<Vec<String>, String> {
        Err("the topic does not exist".to_owned())
    }
}

impl Recorder {
    /// The keys of the delivered events.
    fn keys(&self) -> Vec<String> {
        self.objects("key")
    }

    /// A member of the objects of the delivered events.
    fn objects(&self, member: &str) -> Vec<String> {
        let text = |body: &String| {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            body["Records"][0]["s3"]["object"][member].as_str().unwrap().to_owned()
        };
        self.0.lock().iter().map(text).collect()
    }
}

/// Targets that record what they get.
pub(crate) fn targets() -> (Arc<Targets>, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let queues: Arc<dyn Queues> = Arc::<Recorder>::clone(&recorder);
    let topics: Arc<dyn Publisher> = Arc::<Recorder>::clone(&recorder);
    (Arc::new(Targets { queues, topics, account: "000000000000".to_owned() }), recorder)
}

/// A bucket that announces everything that is created.
struct Rig {
    outbox: Arc<Outbox>,
    recorder: Arc<Recorder>,
    configuration: Configuration,
}

fn rig() -> Rig {
    let (targets, recorder) = targets();
    let clock = Clock::starting_at(Timestamp::from_millis(1_800_000_000_000));
    clock.freeze();
    let outbox = Outbox::new(clock, "us-east-1".to_owned(), targets);
    let rule = RequestedRule {
        id: None,
        kind: TargetKind::Queue,
        arn: "arn:aws:sqs:us-east-1:000000000000:events".to_owned(),
        events: vec!["s3:ObjectCreated:*".to_owned()],
        filter: Vec::new(),
    };
    let configuration = Configuration::check(vec![rule], false, "us-east-1", || "id".to_owned()).unwrap();
    Rig { outbox, recorder, configuration }
}

impl Rig {
    fn begin(&self) -> Unanswered {
        self.outbox.begin("id".to_owned(), None)
    }

    fn send(&self, request: &Unanswered, key: &str) {
        let change = Change { name: PUT, object: Changed::Stored { size: 1, etag: "x" } };
        self.outbox.send(&request.context, ("photos", "us-east-1"), &self.configuration, key, change);
    }
}

#[test]
fn event_is_delivered_when_its_request_has_a_response() {
    let rig = rig();
    let (first, second) = (rig.begin(), rig.begin());
    rig.send(&first, "a");
    rig.send(&second, "b");
    drop(second);
    assert_eq!(rig.recorder.keys(), [""; 0], "the order of the writes is kept");
    drop(first);
    assert_eq!(rig.recorder.keys(), ["a", "b"]);
}

#[tokio::test]
async fn connection_can_write_the_response_before_the_event_is_delivered() {
    let rig = rig();
    let request = rig.begin();
    rig.send(&request, "a");
    drop(request);
    assert_eq!(rig.recorder.keys(), [""; 0]);
    tokio::task::yield_now().await;
    assert_eq!(rig.recorder.keys(), ["a"]);
}

#[test]
fn events_from_before_a_reset_are_dropped() {
    let rig = rig();
    let before = rig.begin();
    rig.send(&before, "before");
    rig.outbox.discard();
    rig.send(&before, "started before");
    drop(before);
    let after = rig.begin();
    rig.send(&after, "after");
    drop(after);
    assert_eq!(rig.recorder.keys(), ["after"]);
}

#[tokio::test]
async fn drain_delivers_all_events() {
    let rig = rig();
    let request = rig.begin();
    rig.send(&request, "a");
    rig.outbox.drain().await;
    assert_eq!(rig.recorder.keys(), ["a"]);
}

#[test]
fn number_of_waiting_events_is_limited() {
    let rig = rig();
    let slow = rig.begin();
    for number in 0..=CAPACITY {
        rig.send(&slow, &number.to_string());
    }
    drop(rig.begin());
    assert_eq!(rig.recorder.keys(), ["0"]);
    drop(slow);
    assert_eq!(rig.recorder.keys().len(), CAPACITY + 1);
}

#[tokio::test]
async fn request_delivers_the_events_over_the_limit_before_its_response() {
    let rig = rig();
    let slow = rig.begin();
    for number in 0..CAPACITY + 3 {
        rig.send(&slow, &number.to_string());
    }
    drop(rig.begin());
    assert_eq!(rig.recorder.keys(), ["0", "1", "2"]);
}

#[test]
fn sequence_numbers_grow_while_the_clock_stands() {
    let rig = rig();
    let request = rig.begin();
    (0..3).for_each(|_| rig.send(&request, "a"));
    drop(request);
    let sequencer = |text: String| u64::from_str_radix(&text, 16).unwrap();
    let numbers: Vec<_> = rig.recorder.objects("sequencer").into_iter().map(sequencer).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert_eq!(numbers[0], 1_800_000_000_000 << SEQUENCE_BITS);
}
