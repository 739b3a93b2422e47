//! One attempt to handle a message, as stores of idempotency know it.

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
    /// A new attempt under this key. Each call returns another [`id`](Self::id).
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), id: random::uuid() }
    }

    /// The idempotency key: the same for all deliveries of a message.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A random UUID that tells this attempt from others under the same key.
    pub fn id(&self) -> &str {
        &self.id
    }
}
