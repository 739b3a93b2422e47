//! A caller of the typed operations over a socket, in one of the protocols.

use std::collections::HashMap;

use sqs_client::operation::{Input, Operation};
use sqs_client::operation::{
    create_queue::CreateQueueInput, get_queue_attributes::GetQueueAttributesInput,
    receive_message::ReceiveMessageInput, send_message::SendMessageInput,
};
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::{MockSqs, MockSqsBuilder};

use crate::wire::Wire;

pub(crate) const BOTH: [Protocol; 2] = [Protocol::AwsJson, Protocol::Query];

/// A server, a connection to it, and the protocol spoken there.
pub(crate) struct Session {
    pub(crate) server: MockSqs,
    pub(crate) wire: Wire,
    pub(crate) protocol: Protocol,
}

impl Session {
    pub(crate) async fn start(protocol: Protocol) -> Self {
        Self::with(MockSqs::builder(), protocol).await
    }

    pub(crate) async fn with(builder: MockSqsBuilder, protocol: Protocol) -> Self {
        let server = builder.start().await.expect("a loopback port");
        let wire = Wire::connect(&server).await;
        Self { server, wire, protocol }
    }

    pub(crate) async fn call<I: Input>(&mut self, input: I) -> <I::Operation as Operation>::Output {
        let answer = self.wire.call(self.protocol, input).await;
        answer
            .unwrap_or_else(|error| panic!("{:?}: {} failed: {error:?}", self.protocol, I::Operation::ACTION))
    }

    pub(crate) async fn create(&mut self, name: &str, attributes: &[(QueueAttributeName, &str)]) -> String {
        let attributes = attributes.iter().map(|(name, value)| (name.clone(), (*value).to_owned()));
        let attributes: HashMap<_, _> = attributes.collect();
        let input = CreateQueueInput::builder().queue_name(name).set_attributes(Some(attributes));
        self.call(input.build().unwrap()).await.queue_url.unwrap()
    }

    pub(crate) async fn send(&mut self, url: &str, body: &str) {
        self.call(SendMessageInput::builder().queue_url(url).message_body(body).build().unwrap()).await;
    }

    /// Receives up to ten messages and returns their bodies and handles.
    pub(crate) async fn receive(&mut self, url: &str) -> Vec<(String, String)> {
        let input = ReceiveMessageInput::builder().queue_url(url).max_number_of_messages(10).build().unwrap();
        let messages = self.call(input).await.messages.unwrap_or_default();
        messages.into_iter().map(|m| (m.body.unwrap(), m.receipt_handle.unwrap())).collect()
    }

    pub(crate) async fn attribute(&mut self, url: &str, name: QueueAttributeName) -> Option<String> {
        let input = GetQueueAttributesInput::builder().queue_url(url).attribute_names(name.clone());
        self.call(input.build().unwrap()).await.attributes?.remove(&name)
    }
}
