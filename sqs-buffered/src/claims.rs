//! The messages that the consumers and receivers of one client are handling.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

/// Queue URL and message id.
type Name = (Arc<str>, Arc<str>);

/// The messages that consumers of one client are handling, and that its receivers have yielded, so that no message is handled
/// twice at the same time. The lock is held for a few instructions.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<HashSet<Name>>);

/// The right to handle a message. Dropping it releases the message.
#[derive(Debug)]
pub(crate) struct Claim {
    claims: Arc<Claims>,
    name: Name,
}

impl Claims {
    /// `None` if the message is being handled.
    pub(crate) fn claim(self: &Arc<Self>, queue_url: &Arc<str>, message_id: &Arc<str>) -> Option<Claim> {
        let name = (Arc::clone(queue_url), Arc::clone(message_id));
        let is_free = self.0.lock().insert(name.clone());
        is_free.then(|| Claim { claims: Arc::clone(self), name })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.0.lock().remove(&self.name);
    }
}
