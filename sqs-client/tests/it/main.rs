//! Integration tests, in one binary so that they link once.

mod actions;
#[cfg(feature = "aws-sdk-sqs")]
mod aws_sdk;
#[cfg(feature = "aws-sdk-sqs")]
mod aws_sdk_errors;
#[cfg(feature = "aws-sdk-sqs")]
mod aws_sdk_in_process;
#[cfg(feature = "aws-sdk-sqs")]
mod aws_sdk_retries;
mod both_protocols;
mod broken;
mod concurrency;
mod configuration;
mod credentials;
mod golden;
mod golden_errors;
mod golden_tree;
mod no_secrets;
mod protocol_damage;
mod protocol_dialects;
mod protocol_excess;
mod protocol_round_trip;
mod protocol_wire;
mod protocol_xml;
mod retries;
mod service;
mod shapes;
mod shapes_arbitrary;
mod shapes_choices;
mod signatures;
mod transport;
mod transport_environment;
mod transport_service;
mod transport_sharing;
mod transport_tls;
