//! Lanes and consumers over a client of the AWS SDK: order, classes of failures, leases and shutdown.

use aws_sdk_sqs::Client;

use super::receive::{leases, shutdown};
use super::{faults, fifo};

#[tokio::test(start_paused = true)]
async fn accepted_messages_of_a_group_are_in_order_when_requests_fail() {
    fifo::check_order::<Client>(2).await;
}

#[tokio::test(start_paused = true)]
async fn permanent_failures_end_with_their_error() {
    faults::check_permanent_failures::<Client>().await;
}

#[tokio::test(start_paused = true)]
async fn expired_credentials_and_wrong_clocks_are_retried_for_all_operations() {
    faults::check_expired_credentials_and_wrong_clocks::<Client>().await;
}

#[tokio::test(start_paused = true)]
async fn handler_that_takes_many_visibility_timeouts_sees_one_delivery() {
    leases::check_long_handlers::<Client>().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_shutdown_no_message_is_hidden() {
    shutdown::check_shutdown::<Client>().await;
}
