//! How many queues a server may have.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// Seats for queues, over all accounts and regions.
#[derive(Debug)]
pub(super) struct Seats {
    limit: usize,
    taken: Arc<AtomicUsize>,
}

/// The seat of one queue, which is free again when the queue is gone.
#[derive(Debug)]
pub(super) struct Seat {
    taken: Arc<AtomicUsize>,
}

impl Seats {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, taken: Arc::default() }
    }

    /// How many are taken.
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes a seat.
    ///
    /// # Errors
    /// `OverLimit`, which no SDK retries.
    pub(super) fn take(&self) -> Result<Seat, ServiceError> {
        let seat = Seat { taken: Arc::clone(&self.taken) };
        // A refused seat is dropped, which takes it back.
        let before = self.taken.fetch_add(1, Ordering::Relaxed);
        if before < self.limit { Ok(seat) } else { Err(refusal(self.limit)) }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

fn refusal(limit: usize) -> ServiceError {
    let text = format!(
        "This server has {limit} queues, which is as many as it may have. Delete queues, or raise the limit with \
         --max-queues, SQS_MOCK_MAX_QUEUES, limits.max_queues in the config file, or Limits::max_queues."
    );
    ServiceError::new(ErrorCode::OverLimit, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seat_that_is_left_can_be_taken_again() {
        let seats = Seats::new(2);
        let (first, _second) = (seats.take().unwrap(), seats.take().unwrap());
        assert_eq!(seats.take().unwrap_err().code, ErrorCode::OverLimit);
        assert_eq!(seats.taken(), 2, "a refused one takes none");
        drop(first);
        assert!(seats.take().is_ok());
    }
}
