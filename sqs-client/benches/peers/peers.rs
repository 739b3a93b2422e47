//! The two clients with their usual API.

use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use sqs_client::types::SendMessageBatchRequestEntry;

use crate::BoxError;
use crate::canned::{Body, MESSAGES, queue_url};
use crate::options::Row;

/// A client of the benchmark. Clones share its connections.
pub(crate) trait Exchange: Clone + Send + Sync + 'static {
    /// Sends one request and reads the response.
    fn exchange(&self) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// A client and the request to send.
#[derive(Clone)]
pub(crate) struct PeerClient<C> {
    client: C,
    row: Row,
    queue_url: String,
    body: String,
}

impl<C> PeerClient<C> {
    fn new(client: C, row: Row, endpoint: &str, body: Body) -> Self {
        Self { client, row, queue_url: queue_url(endpoint), body: body.text() }
    }
}

pub(crate) fn ours(row: Row, endpoint: &str, body: Body) -> PeerClient<sqs_client::Client> {
    ours_with(settings(endpoint), row, endpoint, body)
}

#[cfg(feature = "hyper")]
pub(crate) fn ours_over_hyper(row: Row, endpoint: &str, body: Body) -> PeerClient<sqs_client::Client> {
    use sqs_client::transport::{HyperTransport, PoolConfig};

    let transport = HyperTransport::plain_http(PoolConfig::default());
    ours_with(settings(endpoint).transport(transport), row, endpoint, body)
}

fn ours_with(
    settings: sqs_client::config::Builder,
    row: Row,
    endpoint: &str,
    body: Body,
) -> PeerClient<sqs_client::Client> {
    PeerClient::new(sqs_client::Client::from_conf(settings.build()), row, endpoint, body)
}

fn settings(endpoint: &str) -> sqs_client::config::Builder {
    sqs_client::Config::builder()
        .region(sqs_client::config::Region::new("us-east-1"))
        .credentials_provider(Credentials::new("AKIDEXAMPLE", "secret", None, None, "bench"))
        .endpoint_url(endpoint)
}

pub(crate) fn sdk(row: Row, endpoint: &str, body: Body) -> PeerClient<aws_sdk_sqs::Client> {
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("AKIDEXAMPLE", "secret", None, None, "bench"))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(endpoint);
    PeerClient::new(aws_sdk_sqs::Client::from_conf(config.build()), row, endpoint, body)
}

macro_rules! exchange {
    ($client:ty, $entry:ty) => {
        impl Exchange for PeerClient<$client> {
            async fn exchange(&self) -> Result<(), BoxError> {
                let Self { client, row, queue_url, body } = self;
                let answered = match row {
                    Row::Send => {
                        let sent =
                            client.send_message().queue_url(queue_url).message_body(body).send().await?;
                        usize::from(sent.message_id().is_some())
                    }
                    Row::Batch => {
                        let mut batch = client.send_message_batch().queue_url(queue_url);
                        for id in 0..MESSAGES {
                            let entry = <$entry>::builder().id(id.to_string()).message_body(body);
                            batch = batch.entries(entry.build()?);
                        }
                        batch.send().await?.successful().len()
                    }
                    Row::Receive => {
                        let receive = client.receive_message().queue_url(queue_url);
                        let received =
                            receive.max_number_of_messages(10).wait_time_seconds(20).send().await?;
                        received.messages().len()
                    }
                };
                let expected = if *row == Row::Send { 1 } else { MESSAGES };
                if answered == expected {
                    Ok(())
                } else {
                    Err("the response has the wrong number of messages".into())
                }
            }
        }
    };
}

exchange!(sqs_client::Client, SendMessageBatchRequestEntry);
exchange!(aws_sdk_sqs::Client, aws_sdk_sqs::types::SendMessageBatchRequestEntry);
