//! When events are delivered, and when not.

use futures_util::FutureExt as _;

use super::*;
use crate::s3::S3;
use crate::s3::notifications::{Requested, RequestedRule, StoredObject, TargetKind};
use crate::s3::request_context::Unanswered;
use crate::s3::store::Store;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::delivery::{Delivery, Queues, Source, Undelivered};
use crate::service::policies::Why;
use crate::service::seed::Seed;

const PUT: Change<'_> = Change::Put(StoredObject { size: 1, etag: "x" });

/// Queues that record what they get.
#[derive(Debug, Default)]
pub(in crate::s3) struct Recorder(Mutex<Vec<String>>);

impl Queues for Recorder {
    fn deliver(&self, delivery: Delivery<'_>) -> Result<Option<Why>, Undelivered> {
        self.0.lock().push(delivery.body.to_owned());
        Ok(None)
    }

    fn check(&self, _: &QueueArn, _: Source<'_>) -> Result<Option<Why>, Undelivered> {
        Ok(None)
    }

    #[cfg(feature = "sns")]
    fn whole(&self) -> crate::service::delivery::Whole<'_> {
        None
    }

    #[cfg(feature = "sns")]
    fn check_store(&self) -> Result<(), sqs_client::wire::service_error::ServiceError> {
        Ok(())
    }

    #[cfg(feature = "sns")]
    fn settled(&self) -> crate::service::delivery::Settled<'_> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Recorder {
    /// The keys of the delivered events.
    fn keys(&self) -> Vec<String> {
        let key = |body: &String| {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            body["Records"][0]["s3"]["object"]["key"].as_str().unwrap().to_owned()
        };
        self.0.lock().iter().map(key).collect()
    }
}

/// Targets that record what they get.
pub(in crate::s3) fn targets() -> (Arc<Targets>, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let queues: Arc<dyn Queues> = Arc::<Recorder>::clone(&recorder);
    (Arc::new(Targets { queues, topics: None, account: "000000000000".to_owned() }), recorder)
}

/// A bucket that announces everything that is created.
struct Rig {
    outbox: Outbox,
    worker: Running,
    recorder: Arc<Recorder>,
    bucket: Arc<Bucket>,
    _store: Store,
}

fn rig() -> Rig {
    let (targets, recorder) = targets();
    let clock = Clock::starting_at(Timestamp::from_millis(1_800_000_000_000));
    clock.freeze();
    let (outbox, worker) = Outbox::new(clock, "us-east-1".to_owned(), targets);
    let (directory, is_temporary) = S3::temporary().directory().unwrap();
    let store = Store::open(directory, is_temporary, Seed(1)).unwrap();
    store.create("photos", 0).unwrap();
    let bucket = store.bucket("photos").unwrap();
    let rule = RequestedRule {
        id: None,
        kind: TargetKind::Queue,
        arn: "arn:aws:sqs:us-east-1:000000000000:events".to_owned(),
        events: vec!["s3:ObjectCreated:*".to_owned()],
        filter: Vec::new(),
    };
    let requested = Requested { rules: vec![rule], event_bridge: false };
    let configuration = Configuration::check(requested, "us-east-1", || "id".to_owned()).unwrap();
    bucket.set_notifications::<io::Error>(configuration).unwrap();
    Rig { outbox, worker: worker.start(), recorder, bucket, _store: store }
}

impl Rig {
    async fn send(&self, key: &str) -> Unanswered {
        let (request, unanswered) = RequestContext::new("id", None);
        self.outbox.reserve(&self.bucket, request, 1).await.unwrap().send(key, PUT);
        unanswered
    }
}

#[tokio::test]
async fn event_is_delivered_when_its_request_has_a_response() {
    let rig = rig();
    let unanswered = rig.send("a").await;
    drop(rig.send("b").await);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.recorder.keys(), [""; 0], "the order of the writes is kept");
    drop(unanswered);
    rig.worker.stop().await;
    assert_eq!(rig.recorder.keys(), ["a", "b"]);
}

#[tokio::test]
async fn events_from_before_a_reset_are_dropped() {
    let rig = rig();
    let before = rig.send("before").await;
    let (request, unanswered) = RequestContext::new("id", None);
    let mut started_before = rig.outbox.reserve(&rig.bucket, request, 1).await.unwrap();
    rig.outbox.discard();
    started_before.send("started before", PUT);
    drop((started_before, before, unanswered));
    drop(rig.send("after").await);
    rig.worker.stop().await;
    assert_eq!(rig.recorder.keys(), ["after"]);
}

#[tokio::test]
async fn writes_wait_while_too_many_events_are_undelivered() {
    let rig = rig();
    let (request, _unanswered) = RequestContext::new("id", None);
    let reserve = |count| rig.outbox.reserve(&rig.bucket, Arc::clone(&request), count);
    let all = reserve(CAPACITY).await.unwrap();
    assert!(reserve(1).now_or_never().is_none());
    assert_eq!(rig.outbox.try_reserve(&rig.bucket).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(all);
    assert!(reserve(1).now_or_never().unwrap().is_ok());
    rig.bucket.set_notifications::<io::Error>(Configuration::default()).unwrap();
    let _all = rig.outbox.queue.reserve_many(CAPACITY).await.unwrap();
    reserve(1).now_or_never().expect("a bucket without rules needs no place").unwrap().send("a", PUT);
}

#[tokio::test]
async fn sequence_numbers_grow_while_the_clock_stands() {
    let rig = rig();
    let numbers: Vec<_> = (0..3).map(|_| rig.outbox.next_sequence()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert_eq!(numbers[0], 1_800_000_000_000 << SEQUENCE_BITS);
}
