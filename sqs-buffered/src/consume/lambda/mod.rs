//! Runs handlers in AWS Lambda.

mod event;
mod handler;

pub use event::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsRecord, SqsRecordAttribute};
pub use handler::LambdaHandler;
