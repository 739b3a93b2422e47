//! What single operations need beside the rule.

use std::any::Any;
use std::time::Duration;

use crate::limits::WAIT_TIME_SECONDS;
use crate::types::batch::SendMessageBatchInput;
use crate::types::message::{ReceiveMessageInput, SendMessageInput};

/// How long the service may hold the answer back: the wait of a receive, or the longest one when the queue's own
/// setting applies.
pub(super) fn wait_time(input: &dyn Any) -> Duration {
    let Some(receive) = input.downcast_ref::<ReceiveMessageInput>() else {
        return Duration::ZERO;
    };
    let seconds = receive.wait_time_seconds.unwrap_or(*WAIT_TIME_SECONDS.end());
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

/// Gives messages to FIFO queues a deduplication id from `id` when they have none.
pub(super) fn deduplicate(input: &mut dyn Any, id: fn() -> String) {
    let is_fifo = |url: &Option<String>| url.as_deref().is_some_and(|url| url.ends_with(".fifo"));
    if let Some(send) = input.downcast_mut::<SendMessageInput>() {
        if is_fifo(&send.queue_url) {
            send.message_deduplication_id.get_or_insert_with(id);
        }
    } else if let Some(batch) = input.downcast_mut::<SendMessageBatchInput>()
        && is_fifo(&batch.queue_url)
    {
        for entry in batch.entries.iter_mut().flatten() {
            entry.message_deduplication_id.get_or_insert_with(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::send_message_batch::SendMessageBatchInput;
    use crate::types::SendMessageBatchRequestEntry;

    #[test]
    fn only_a_receive_waits() {
        let receive = |seconds| {
            ReceiveMessageInput::builder()
                .set_wait_time_seconds(seconds)
                .build()
                .expect("complete")
        };
        assert_eq!(wait_time(&receive(Some(7))), Duration::from_secs(7));
        assert_eq!(wait_time(&receive(Some(-7))), Duration::ZERO);
        assert_eq!(
            wait_time(&receive(None)),
            Duration::from_secs(20),
            "the queue's default may be up to that"
        );
        assert_eq!(wait_time(&SendMessageInput::default()), Duration::ZERO);
    }

    #[test]
    fn ids_are_given_on_fifo_queues_where_there_are_none() {
        let id = || "generated".to_owned();
        let entry = |id: Option<&str>| {
            let entry = SendMessageBatchRequestEntry::builder().id("1").message_body("b");
            entry
                .set_message_deduplication_id(id.map(Into::into))
                .build()
                .expect("complete")
        };
        for (url, expected) in [("http://h/0/q.fifo", Some("generated")), ("http://h/0/q", None)] {
            let mut send = SendMessageInput::builder()
                .queue_url(url)
                .build()
                .expect("complete");
            deduplicate(&mut send, id);
            assert_eq!(send.message_deduplication_id(), expected);
            let batch = SendMessageBatchInput::builder()
                .queue_url(url)
                .entries(entry(None))
                .entries(entry(Some("own")));
            let mut batch = batch.build().expect("complete");
            deduplicate(&mut batch, id);
            let ids: Vec<_> = batch
                .entries()
                .iter()
                .map(|entry| entry.message_deduplication_id())
                .collect();
            assert_eq!(ids, [expected, Some("own")]);
        }
    }
}
