//! A reader of all changes has the state of every queue, under concurrent clients.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use fastrand::Rng;
use parking_lot::Mutex;
use sqs_client::operation::change_message_visibility::ChangeMessageVisibilityInput;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::purge_queue::PurgeQueueInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::operation::start_message_move_task::StartMessageMoveTaskInput;
use sqs_client::operation::tag_queue::TagQueueInput;
use sqs_client::types::QueueAttributeName;

use super::*;
use crate::control::seed::Uuid;
use crate::sqs::engine::DeliveryMode;
use crate::sqs::engine::change::QueueChange;
use crate::sqs::engine::change::QueueId;
use crate::sqs::engine::move_task::MoveTask;
use crate::sqs::engine::move_task::MoveTaskChange;
use crate::sqs::engine::state::QueueState;
use crate::sqs::locked_queue::Change;
use crate::sqs::locked_queue::ChangeReader;
use crate::sqs::ops::message::Failure;
#[cfg(feature = "durable")]
use crate::store::Store;

/// Duration of the load, for longer runs.
const SECONDS: &str = "SQS_MOCK_LOAD_SECONDS";
const CLIENTS: u64 = 6;
/// Tasks of one source that are listed.
const LISTED: usize = 10;
const QUEUES: [&str; 5] = ["orders", "orders-dead", "loose", "jobs.fifo", "jobs-dead.fifo"];

/// The data that a store would keep.
#[derive(Debug, Default)]
struct Replica {
    stored: Mutex<Stored>,
    /// A real store, which reads the same changes.
    #[cfg(feature = "durable")]
    store: Option<Arc<dyn ChangeReader>>,
}

#[derive(Debug, Default)]
struct Stored {
    queues: BTreeMap<QueueId, QueueState>,
    tasks: BTreeMap<String, MoveTask>,
    /// The number of messages that each task has moved, of the changes of queues alone.
    moved: HashMap<Uuid, u64>,
    changes: u64,
    task_changes: u64,
}

/// Fewer changes prove little.
const FEWEST_CHANGES: u64 = 1_000;

impl Replica {
    fn is_busy(&self) -> bool {
        let stored = self.stored.lock();
        stored.changes > FEWEST_CHANGES && stored.task_changes > 0
    }
}

impl ChangeReader for Replica {
    fn read(&self, change: Change) {
        let mut stored = self.stored.lock();
        #[cfg(feature = "durable")]
        self.store.iter().for_each(|store| store.read(change.clone()));
        stored.task_changes += u64::from(matches!(change, Change::MoveTask(_)));
        match change {
            Change::MoveTask(MoveTaskChange::Updated(task)) => drop(stored.tasks.insert(task.handle(), task)),
            Change::MoveTask(MoveTaskChange::Forgotten(source)) => {
                stored.tasks.retain(|_, task| task.order.source != source);
            }
            Change::ClockSet(_) | Change::Reset => {}
            Change::Queue(id, changes) => {
                stored.changes += u64::try_from(changes.len()).unwrap();
                for change in changes {
                    stored.apply(&id, change);
                }
            }
        }
    }
}

impl Stored {
    fn apply(&mut self, id: &QueueId, change: QueueChange) {
        if let QueueChange::MessageMoved { from, ticket, task, .. } = &change {
            if let Some(task) = task {
                *self.moved.entry(*task).or_default() += 1;
            }
            self.queues.get_mut(from).into_iter().for_each(|state| state.remove(*ticket));
        }
        match change {
            QueueChange::Created(creation) => {
                self.queues.insert(id.clone(), QueueState::new(*creation));
            }
            QueueChange::Deleted { .. } => drop(self.queues.remove(id)),
            change => self.queues.get_mut(id).expect("a change after the creation").apply(change),
        }
    }
}

struct Client {
    rig: Rig,
    random: Rng,
    received: Vec<(String, String)>,
}

impl Client {
    fn url(&mut self) -> String {
        format!("http://sqs.test/{ACCOUNT}/{}", self.random.choice(QUEUES).unwrap())
    }

    async fn create(&mut self, name: &str) {
        let fifo = name.ends_with(".fifo");
        let mut attributes = vec![("VisibilityTimeout", "3".to_owned())];
        if fifo {
            attributes.push(("FifoQueue", "true".to_owned()));
            attributes.push(("ContentBasedDeduplication", "true".to_owned()));
        }
        match name {
            "orders" => attributes.push(("RedrivePolicy", redrive_to("orders-dead", 2))),
            "jobs.fifo" => attributes.push(("RedrivePolicy", redrive_to("jobs-dead.fifo", 2))),
            _ => {}
        }
        let attributes = attributes.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let input = CreateQueueInput::builder().queue_name(name).set_attributes(Some(attributes));
        // The queue may exist, or its dead-letter queue may not.
        let _ = self.rig.call(input).await;
    }

    /// Sends one request. Errors are expected.
    async fn step(&mut self) {
        let url = self.url();
        self.rig.context.redeliver = self.random.u8(..10) == 0;
        match self.random.u8(..100) {
            0..35 => {
                let group = format!("g{}", self.random.u8(..4));
                let group = Some(group).filter(|_| url.ends_with(".fifo"));
                let body = self.random.u16(..500).to_string();
                let _ = self.rig.call(send(&url, &body).set_message_group_id(group)).await;
            }
            35..65 => self.receive(&url).await,
            65..80 => {
                let Some((url, handle)) = self.received.pop() else { return };
                let input = DeleteMessageInput::builder().queue_url(url).receipt_handle(handle);
                let _ = self.rig.call(input).await;
            }
            80..88 => {
                let Some((url, handle)) = self.received.pop() else { return };
                let timeout = self.random.i32(0..5);
                let input = ChangeMessageVisibilityInput::builder().queue_url(url).receipt_handle(handle);
                let _ = self.rig.call(input.visibility_timeout(timeout)).await;
            }
            88..92 => self.rig.service.clock().advance(Duration::from_millis(self.random.u64(..5_000))),
            _ => self.administer(url).await,
        }
    }

    async fn receive(&mut self, url: &str) {
        let attempt = self.random.u8(..3).to_string();
        let input = ReceiveMessageInput::builder().queue_url(url).max_number_of_messages(5);
        let received = self.rig.call(input.receive_request_attempt_id(attempt)).await;
        let messages = received.ok().and_then(|output| output.messages).unwrap_or_default();
        let handles = messages.into_iter().filter_map(|message| message.receipt_handle);
        self.received.extend(handles.map(|handle| (url.to_owned(), handle)));
    }

    async fn administer(&mut self, url: String) {
        let arn = |name: &str| QueueArn::new(REGION, ACCOUNT, name).to_string();
        match self.random.u8(..12) {
            0 => drop(self.rig.call(PurgeQueueInput::builder().queue_url(url)).await),
            1 => drop(self.rig.call(DeleteQueueInput::builder().queue_url(url)).await),
            2 | 3 => {
                let name = self.random.choice(QUEUES).unwrap();
                self.create(name).await;
            }
            4 | 5 => {
                let value = self.random.u8(..).to_string();
                drop(self.rig.call(TagQueueInput::builder().queue_url(url).tags("value", value)).await);
            }
            6 | 7 => {
                let input = StartMessageMoveTaskInput::builder().source_arn(arn("orders-dead"));
                drop(self.rig.call(input).await);
            }
            8 => {
                let input = StartMessageMoveTaskInput::builder().source_arn(arn("jobs-dead.fifo"));
                drop(self.rig.call(input).await);
            }
            _ => {
                let (name, value) = match self.random.u8(..3) {
                    0 => (QueueAttributeName::DelaySeconds, self.random.u8(..4).to_string()),
                    1 => (QueueAttributeName::VisibilityTimeout, self.random.u8(..6).to_string()),
                    _ => (QueueAttributeName::MessageRetentionPeriod, self.random.u16(60..400).to_string()),
                };
                let input = SetQueueAttributesInput::builder().queue_url(url).attributes(name, value);
                drop(self.rig.call(input).await);
            }
        }
    }
}

async fn run(delivery: DeliveryMode, seconds: u64) {
    #[cfg(feature = "durable")]
    let (directory, store) = {
        let directory = tempfile::tempdir().expect("a directory");
        let (store, _) = Store::open(&directory.path().into()).expect("a store");
        (directory, store)
    };
    let replica = Arc::new(Replica {
        #[cfg(feature = "durable")]
        store: Some(store.reader()),
        ..Replica::default()
    });
    let settings = Settings { one_minute_rules: false, delivery, ..Settings::default() };
    let reader = Arc::clone(&replica) as Arc<dyn ChangeReader>;
    let service = Service::new(start(), settings, Some(reader));
    let rig = Rig { service: Arc::new(service), ..rig() };
    #[expect(clippy::disallowed_methods, reason = "the load runs in real time")]
    let start = Instant::now();
    let clients = (0..CLIENTS).map(|number| {
        let mut rig = rig.clone();
        rig.context.failing = vec![(1, Failure::from(ServiceError::bare(ErrorCode::InternalFailure)))];
        let random = Seed(number).generator("client");
        let mut client = Client { rig, random, received: Vec::new() };
        let replica = Arc::clone(&replica);
        tokio::spawn(async move {
            for name in ["orders-dead", "jobs-dead.fifo", "orders", "jobs.fifo", "loose"] {
                client.create(name).await;
            }
            let is_over = |seconds| start.elapsed() >= Duration::from_secs(seconds);
            // On a busy machine, the load takes longer to be one.
            while !is_over(seconds) || !(replica.is_busy() || is_over(60)) {
                client.step().await;
                tokio::task::yield_now().await;
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("a client");
    }
    rig.service.shut_down();
    // Move tasks end at their next step.
    while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    compare(&rig.service, &replica);
    #[cfg(feature = "durable")]
    {
        drop(store);
        let (_store, contents) = Store::open(&directory.path().into()).expect("the same store");
        let now = rig.service.clock().now();
        let mut queues: BTreeMap<_, _> = contents.sqs.queues.into_iter().collect();
        let mut stored = replica.stored.lock();
        for state in queues.values_mut().chain(stored.queues.values_mut()) {
            state.deduplication.retain(|known| now < known.forget);
            state.deduplication.sort_by_key(|known| (known.forget, known.mark));
        }
        assert!(stored.queues.keys().eq(queues.keys()), "queues differ");
        for (id, state) in &queues {
            let expected = &stored.queues[id];
            assert!(expected.messages == state.messages, "messages of {id:?} differ");
            assert_eq!(expected.deduplication, state.deduplication, "deduplication ids of {id:?}");
            assert!(expected == state, "attributes of {id:?} differ");
        }
    }
}

fn compare(service: &Service, replica: &Replica) {
    let now = service.clock().now();
    let mut queues = BTreeMap::new();
    for arn in service.queues() {
        let queue = service.shared.find_arn(&arn).expect("a queue");
        let state =
            queue.look(|queue| (queue.id().clone(), queue.state(now))).expect("a queue that is there");
        queues.insert(state.0, state.1);
    }
    let mut stored = replica.stored.lock();
    for state in stored.queues.values_mut() {
        state.deduplication.retain(|known| now < known.forget);
    }
    assert_eq!(stored.queues, queues);
    assert!(stored.changes > FEWEST_CHANGES, "only {} changes", stored.changes);
    let account = service.shared.account(REGION, ACCOUNT).expect("an account");
    for name in ["orders-dead", "jobs-dead.fifo"] {
        let source = QueueArn::new(REGION, ACCOUNT, name);
        let tasks = account.tasks(|tasks| tasks.list(&source).cloned().collect::<Vec<_>>());
        let of_source = stored.tasks.values().filter(|task| *task.order.source == source).count();
        assert_eq!(tasks.len(), of_source.min(LISTED));
        for task in tasks {
            assert_eq!(stored.tasks.get(&task.handle()), Some(&task));
            assert_eq!(stored.moved.get(&task.id).copied().unwrap_or_default(), task.moved);
        }
    }
    assert!(stored.task_changes > 0, "a move task was started");
}

fn seconds() -> u64 {
    std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reader_of_all_changes_has_the_state_of_every_queue() {
    run(DeliveryMode::Ordered, seconds()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reader_of_all_changes_has_the_state_of_queues_that_deliver_like_aws() {
    run(DeliveryMode::AwsLike, seconds()).await;
}
