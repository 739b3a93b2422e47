//! Payloads over a client of the AWS SDK: where the errors of the base client decide what happens to an object.

use aws_sdk_sqs::Client;

use super::{buffered, sending};

#[tokio::test(start_paused = true)]
async fn large_messages_are_batched_and_consumed() {
    buffered::check_batches_of_large_messages::<Client>().await;
}

#[tokio::test(start_paused = true)]
async fn object_of_a_rejected_message_is_deleted() {
    sending::check_objects_of_rejected_messages::<Client>().await;
}

#[tokio::test(start_paused = true)]
async fn object_is_kept_if_the_outcome_of_the_send_is_unknown() {
    sending::check_objects_of_unknown_outcomes::<Client>().await;
}
