//! Changes that belong together are in one batch.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::Durability;
use crate::sns::engine::topic::{TopicChange, TopicNumber, TopicReader as _};
use crate::store::topics::{Committed, Inbox};

/// Long enough for another thread to take what it can.
const A_WHILE: Duration = Duration::from_millis(50);

/// Records two changes that belong together. `act` runs in another thread between them.
fn recorded_around<T: Send + 'static>(act: impl FnOnce(&Inbox) -> T + Send + 'static) -> (Arc<Inbox>, T) {
    let inbox = Arc::new(Inbox::new(None, Durability::Process));
    let together = inbox.commits.together();
    inbox.read(TopicNumber(1), TopicChange::Deleted);
    let other = Arc::clone(&inbox);
    let other = thread::spawn(move || act(&other));
    thread::sleep(A_WHILE);
    inbox.read(TopicNumber(1), TopicChange::Deleted);
    drop(together);
    let result = other.join().unwrap();
    (inbox, result)
}

#[test]
fn batch_does_not_end_between_changes_that_belong_together() {
    let (_, batch) = recorded_around(|inbox| inbox.next(Committed::default()).unwrap());
    assert_eq!((batch.changes.len(), batch.recorded), (2, 2));
}

#[test]
fn store_does_not_close_between_changes_that_belong_together() {
    let (inbox, ()) = recorded_around(Inbox::close);
    assert_eq!(inbox.next(Committed::default()).unwrap().changes.len(), 2);
}
