//! The requests of all operations. They differ between servers only in address and queue.

use std::net::SocketAddr;

use crate::BoxError;
use crate::wire::request;

/// Bytes per message.
pub(crate) const BODY: usize = 1000;
/// Messages per batch.
pub(crate) const BATCH: usize = 10;
/// The member name before each receipt handle of a response.
pub(crate) const HANDLE: &str = "\"ReceiptHandle\"";

/// The requests that can be encoded in advance.
pub(crate) struct Requests {
    address: SocketAddr,
    queue: String,
    pub(crate) send: Vec<u8>,
    pub(crate) send_batch: Vec<u8>,
    pub(crate) receive: Vec<u8>,
}

impl Requests {
    pub(crate) fn new(address: SocketAddr, queue: &str) -> Self {
        let text = "A body of plain text. ";
        let body: String = text.chars().cycle().take(BODY).collect();
        let entry = |id: usize| format!(r#"{{"Id":"{id}","MessageBody":"{body}"}}"#);
        let batch = (0..BATCH).map(entry).collect::<Vec<_>>().join(",");
        let send =
            |action, rest: &str| request(address, action, &format!(r#"{{"QueueUrl":"{queue}",{rest}}}"#));
        Self {
            address,
            queue: queue.to_owned(),
            send: send("SendMessage", &format!(r#""MessageBody":"{body}""#)),
            send_batch: send("SendMessageBatch", &format!(r#""Entries":[{batch}]"#)),
            receive: send("ReceiveMessage", r#""MaxNumberOfMessages":10"#),
        }
    }

    /// The request that deletes the received messages.
    pub(crate) fn delete(&self, received: &[u8]) -> Result<Vec<u8>, BoxError> {
        let handles = std::str::from_utf8(received)?.split(HANDLE).skip(1);
        let entries = handles.enumerate().map(|(id, rest)| {
            // A colon, perhaps a space, and the handle in quotes.
            let handle = rest.split('"').nth(1).unwrap_or_default();
            format!(r#"{{"Id":"{id}","ReceiptHandle":"{handle}"}}"#)
        });
        let entries = entries.collect::<Vec<_>>().join(",");
        let input = format!(r#"{{"QueueUrl":"{}","Entries":[{entries}]}}"#, self.queue);
        Ok(request(self.address, "DeleteMessageBatch", &input))
    }
}
