//! An S3 server next to the SQS server, for payloads that are too large for messages. It speaks HTTP, runs in the same
//! process and keeps objects in files.
//!
//! ```text
//! setup -> server -> front: HTTP, faults -> s3s: signatures, XML -> ops: one method per operation -> store: files
//!                                                                       +-> outbox: events to queues and topics
//! ```
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use sqs_mock_server::MockSqs;
//! use sqs_mock_server::faults::Fault;
//! use sqs_mock_server::s3::{S3, S3Action};
//!
//! let server = MockSqs::builder().s3(S3::temporary().bucket("payloads")).start().await?;
//! let endpoint = server.s3().endpoint_url(); // for any S3 client
//!
//! // The next GetObject breaks off in the middle of the body.
//! server.faults().inject(Fault::truncate().on_s3(S3Action::GetObject).bucket("payloads").times(1));
//! assert_eq!(server.s3().count("payloads"), 0);
//! # let _ = endpoint;
//! # Ok(())
//! # }
//! ```

mod describe;
mod front;
mod host;
mod inspect;
mod journal;
mod metrics;
mod notifications;
mod ops;
mod outbox;
mod request_context;
mod server;
mod setup;
mod store;
mod types;

pub(crate) use front::Front;
pub(crate) use host::Host;
pub use journal::S3Request;
pub(crate) use notifications::{Configuration, RequestedRule, SELECTABLE, TargetKind};
pub(crate) use outbox::Targets;
pub(crate) use server::Content;
pub use server::MockS3;
pub use setup::S3;
pub(crate) use setup::problem_of_bucket_name;
pub use types::{S3Object, S3Upload};

pub use crate::service::operation::S3Action;
