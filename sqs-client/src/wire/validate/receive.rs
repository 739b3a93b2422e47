//! Rules for receiving: number of messages, wait time, visibility timeout and receive request attempt id.

use super::error::{require_queue_url, within};
use super::{Validate, message};
use crate::types::message::ReceiveMessageInput;
use crate::wire::limits::{RECEIVE_MESSAGES, VISIBILITY_TIMEOUT_SECONDS, WAIT_TIME_SECONDS};
use crate::wire::service_error::ServiceError;

impl Validate for ReceiveMessageInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        within("MaxNumberOfMessages", self.max_number_of_messages, &RECEIVE_MESSAGES, |low, high| {
            format!("Must be between {low} and {high}, if provided.")
        })?;
        let reason = |low, high| format!("Must be >= {low} and <= {high}, if provided.");
        within("WaitTimeSeconds", self.wait_time_seconds, &WAIT_TIME_SECONDS, reason)?;
        within("VisibilityTimeout", self.visibility_timeout, &VISIBILITY_TIMEOUT_SECONDS, reason)?;
        // Attribute names are not checked: recorded responses of SQS accept invalid names, which match nothing.
        // SQS accepts the id on standard queues too, and ignores it there.
        message::token("ReceiveRequestAttemptId", self.receive_request_attempt_id())
    }
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
