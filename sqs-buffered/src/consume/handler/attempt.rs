//! One attempt to handle a message, for idempotency stores.

use crate::random;

/// One attempt to handle a message under an idempotency key. [`Idempotent`](crate::Idempotent) makes one for each delivery
/// and passes it to its [store](crate::IdempotencyStore). A handler takes it as a parameter to complete the attempt in the
/// transaction of its own effect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempt {
    key: String,
    id: String,
}

impl Attempt {
    /// Creates an attempt under this key, with a new [`id`](Self::id).
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), id: random::uuid() }
    }

    /// The idempotency key: the same for all deliveries of a message.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A random UUID that identifies this attempt.
    pub fn id(&self) -> &str {
        &self.id
    }
}
