//! Which messages are being handled, by whichever consumer or receiver of a client.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

/// Queue URL and message id.
type Name = (Arc<str>, Arc<str>);

/// The messages that consumers of one client are handling, and that its receivers have handed out. The lock is held for a few instructions.
#[derive(Debug, Default)]
pub(crate) struct Busy(Mutex<HashSet<Name>>);

/// The right to handle a message, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    busy: Arc<Busy>,
    name: Name,
}

impl Busy {
    /// `None` when the message is being handled.
    pub(crate) fn enter(self: &Arc<Self>, queue_url: &Arc<str>, message_id: &Arc<str>) -> Option<Turn> {
        let name = (Arc::clone(queue_url), Arc::clone(message_id));
        let is_free = self.0.lock().insert((Arc::clone(queue_url), Arc::clone(message_id)));
        is_free.then(|| Turn { busy: Arc::clone(self), name })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.busy.0.lock().remove(&self.name);
    }
}
