//! The store of idempotency keys.

use std::sync::Arc;
use std::time::Duration;

use crate::consume::{Attempt, HandlerError};

/// The store of [`Idempotent`](crate::Idempotent): it remembers which keys are in progress and which are completed.
/// [`MemoryStore`](crate::MemoryStore) is for a single process. For several processes, implement it over a database that they share.
///
/// A record belongs to one key. It is in progress for one [`Attempt`] until its lease ends, or it is completed. Each method
/// is atomic: of two attempts that begin at the same time, one starts. In SQL (`PostgreSQL`):
///
/// ```sql
/// CREATE TABLE handled (key text PRIMARY KEY, attempt text NOT NULL, leased_until timestamptz, completed_at timestamptz);
///
/// -- begin(attempt, lease): a returned row means Started. Without one, the record says InProgress or Completed; if it is
/// -- gone by then, begin again.
/// INSERT INTO handled (key, attempt, leased_until) VALUES ($key, $attempt, now() + $lease)
/// ON CONFLICT (key) DO UPDATE SET attempt = $attempt, leased_until = now() + $lease
/// WHERE handled.completed_at IS NULL AND (handled.attempt = $attempt OR handled.leased_until <= now())
/// RETURNING key;
/// SELECT completed_at, leased_until - now() FROM handled WHERE key = $key;
///
/// -- complete(attempt): no updated row is an error.
/// UPDATE handled SET completed_at = now() WHERE key = $key AND attempt = $attempt;
///
/// -- abandon(attempt)
/// DELETE FROM handled WHERE key = $key AND attempt = $attempt AND completed_at IS NULL;
///
/// -- From time to time: forget keys that no delivery can repeat. SQS keeps messages for up to 14 days.
/// DELETE FROM handled WHERE completed_at < now() - interval '15 days' OR leased_until < now() - interval '15 days';
/// ```
///
/// # An effect that happens exactly once
/// `Idempotent` completes the attempt after the handler has returned. If the process dies in between, the handler runs again. To
/// rule that out, the handler completes the attempt itself, in the transaction of its effect: it takes the [`Attempt`] as a
/// parameter, runs the `UPDATE` above, and commits only if one row was updated.
///
/// # Cancel safety
/// The future of each method can be dropped: after the [timeout](crate::Idempotent::store_timeout), or when the handler is
/// stopped. The record may be written or not.
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Begins an attempt, or renews the lease of an attempt that has begun and is not completed. The lease is at least a
    /// millisecond, and counts from now; use the clock of the store.
    ///
    /// # Errors
    /// The store failed. The message is delivered again after the back-off.
    fn begin(
        &self,
        attempt: &Attempt,
        lease: Duration,
    ) -> impl Future<Output = Result<Begin, HandlerError>> + Send;

    /// Marks the key as completed. Succeeds if this attempt has completed it before.
    ///
    /// # Errors
    /// The record belongs to another attempt, or the store failed. The message is delivered again after the back-off.
    fn complete(&self, attempt: &Attempt) -> impl Future<Output = Result<(), HandlerError>> + Send;

    /// Removes the record if this attempt holds it and has not completed it.
    ///
    /// # Errors
    /// The store failed. The record remains until its lease ends.
    fn abandon(&self, attempt: &Attempt) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// The result of [`IdempotencyStore::begin`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Begin {
    /// The record belongs to this attempt until its lease ends.
    Started,
    /// Another attempt is in progress.
    InProgress {
        /// The rest of its lease.
        remaining: Duration,
    },
    /// The key was completed, by this attempt or another.
    Completed,
}

impl<T: IdempotencyStore> IdempotencyStore for Arc<T> {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        T::begin(self, attempt, lease).await
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        T::complete(self, attempt).await
    }

    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        T::abandon(self, attempt).await
    }
}
