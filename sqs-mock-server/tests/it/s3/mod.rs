//! S3 over sockets, mostly with the AWS SDK for Rust.

#[cfg(feature = "cli")]
mod binary;
mod browsers;
mod bucket_settings;
mod conditions;
mod copies;
mod events;
mod events_over_topics;
mod faults;
mod files;
mod listings;
mod metrics;
mod multipart;
mod notifications;
mod objects;
mod shared_port;
mod signatures;
mod tags;
mod wire;

use std::fmt::Debug;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::S3;

/// The default initial bucket.
const BUCKET: &str = "payloads";

async fn server() -> MockSqs {
    MockSqs::builder().s3(S3::temporary()).start().await.unwrap()
}

fn config(server: &MockSqs) -> aws_sdk_s3::config::Builder {
    aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("anyone", "anything", None, None, "test"))
        .endpoint_url(server.s3().endpoint_url())
        .retry_config(RetryConfig::disabled())
}

fn client(server: &MockSqs) -> Client {
    Client::from_conf(config(server).build())
}

/// Status and code of an error.
fn refusal<T: Debug, E: ProvideErrorMetadata + Debug>(result: Result<T, SdkError<E>>) -> (u16, String) {
    let error = result.unwrap_err();
    let status = error.raw_response().map_or(0, |response| response.status().as_u16());
    (status, error.code().unwrap_or_default().to_owned())
}

/// Bytes with a period that is no power of two, so that misplaced bytes are detected.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect()
}

async fn put(client: &Client, key: &str, body: &[u8]) {
    client.put_object().bucket(BUCKET).key(key).body(body.to_vec().into()).send().await.unwrap();
}

async fn get(client: &Client, key: &str) -> Vec<u8> {
    let got = client.get_object().bucket(BUCKET).key(key).send().await.unwrap();
    got.body.collect().await.unwrap().to_vec()
}
