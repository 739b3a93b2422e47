//! Connection sharing between clients.

use std::time::Duration;

use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::{PoolConfig, TlsConfig};
use sqs_client::{Client, Config};

use crate::service::{HELLO, QUEUE, settings};
use crate::transport_service::Service;

async fn send(config: Config) {
    let client = Client::from_conf(config);
    client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.expect("accepted");
}

fn connect_timeout(seconds: u64) -> TimeoutConfig {
    TimeoutConfig::builder().connect_timeout(Duration::from_secs(seconds)).build()
}

#[tokio::test]
async fn clients_of_derived_configurations_share_a_connection() {
    let service = Service::plain().await;
    let config = settings(&service.http()).timeout_config(connect_timeout(2)).build();
    send(config.clone()).await;
    let attempts = TimeoutConfig::builder().operation_attempt_timeout(Duration::from_secs(5));
    let timeouts = attempts.connect_timeout(Duration::from_secs(2)).build();
    let derived = config.to_builder().retry_config(RetryConfig::disabled()).timeout_config(timeouts).build();
    send(derived.clone()).await;
    // Setting the same values again keeps the connections.
    let same = derived.to_builder().pool_config(PoolConfig::default()).tls_config(TlsConfig::default());
    send(same.build()).await;
    assert_eq!(service.accepted(), 1);
}

#[tokio::test]
async fn changed_pool_tls_or_connect_timeout_makes_new_connections() {
    let service = Service::plain().await;
    let config = settings(&service.http()).build();
    send(config.clone()).await;
    send(config.to_builder().pool_config(PoolConfig::default().max_idle_per_host(1)).build()).await;
    send(config.to_builder().tls_config(TlsConfig::no_roots()).build()).await;
    send(config.to_builder().timeout_config(connect_timeout(1)).build()).await;
    assert_eq!(service.accepted(), 4);
}

#[tokio::test]
async fn client_with_another_endpoint_keeps_its_settings() {
    let (service, root) = Service::encrypted().await;
    let plain = Service::plain().await;
    let config = settings(&service.https()).tls_config(TlsConfig::no_roots().add_root_pem(root)).build();
    send(config.clone()).await;
    send(config.to_builder().endpoint_url(plain.http()).build()).await;
    send(config.to_builder().endpoint_url(service.https()).build()).await;
    assert_eq!((service.accepted(), plain.accepted()), (1, 1));
}
