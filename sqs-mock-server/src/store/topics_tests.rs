//! Topics in a real file.

use super::{Data, Store};
use crate::sns::engine::topic::{TopicChange, TopicNumber, TopicState};
use crate::sns::engine::topic_changes_tests::RandomTopic;

/// What a store in this directory has.
fn stored(data: &Data) -> Vec<(TopicNumber, TopicState)> {
    Store::open(data).unwrap().1.topics.topics
}

#[test]
fn stored_topics_are_restored() {
    let directory = tempfile::tempdir().unwrap();
    let data = Data::from(directory.path());
    let created: Vec<_> = (0..6).map(|seed| RandomTopic::new(seed, seed % 2 == 0)).collect();
    let (mut topics, mut creations): (Vec<_>, Vec<_>) = created.into_iter().unzip();
    for _ in 0..10 {
        let (store, _) = Store::open(&data).unwrap();
        let reader = store.topic_reader();
        for (number, creation) in (1..).zip(creations.drain(..)) {
            reader.read(TopicNumber(number), creation);
        }
        for (number, topic) in (1..).zip(&mut topics) {
            for _ in 0..100 {
                topic.step().into_iter().for_each(|change| reader.read(TopicNumber(number), change));
            }
        }
        drop(store);
        let expected = (1..).zip(&topics).map(|(number, topic)| (TopicNumber(number), topic.state.clone()));
        assert_eq!(stored(&data), expected.collect::<Vec<_>>());
    }
}

#[test]
fn later_changes_of_a_deleted_topic_have_no_effect() {
    let directory = tempfile::tempdir().unwrap();
    let data = Data::from(directory.path());
    let (store, _) = Store::open(&data).unwrap();
    let reader = store.topic_reader();
    let (mut deleted, creation) = RandomTopic::new(2, true);
    reader.read(TopicNumber(1), creation.clone());
    (0..50).flat_map(|_| deleted.step()).for_each(|change| reader.read(TopicNumber(1), change));
    reader.read(TopicNumber(1), TopicChange::Deleted);
    reader.read(TopicNumber(2), creation);
    let changes: Vec<_> = (0..200).flat_map(|_| deleted.step()).collect();
    assert!(changes.iter().any(|change| matches!(change, TopicChange::Subscribed(_))));
    assert!(changes.iter().any(|change| matches!(change, TopicChange::Published { .. })));
    for change in changes {
        reader.read(TopicNumber(1), change);
    }
    drop(store);
    let [(TopicNumber(2), state)] = &stored(&data)[..] else { panic!("{:?}", stored(&data)) };
    assert_eq!((state.subscriptions.len(), state.known.len(), state.numbered), (0, 0, 0));
}
