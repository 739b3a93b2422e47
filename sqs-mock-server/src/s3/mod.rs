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

mod content;
mod front;
mod inspect;
mod notifications;
mod ops;
mod outbox;
mod server;
mod setup;
mod store;
mod types;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use http::Extensions;
use hyper::body::Incoming;
use parking_lot::Mutex;

use crate::http::{Limits, Names};
use crate::service::clock::Clock;
use crate::service::faults::{Faults, Plan};
use crate::service::journal::Journal;
pub use crate::service::operation::S3Action;
use crate::service::resource::Resource;
use crate::service::seed::Seed;

pub(crate) use content::Content;
pub(crate) use front::Front;
pub(crate) use notifications::Configuration;
#[cfg(feature = "config-file")]
pub(crate) use notifications::{RequestedRule, SELECTABLE, TargetKind};
pub(crate) use outbox::Targets;
pub use server::MockS3;
pub use setup::S3;
pub(crate) use setup::problem_of_bucket_name;
pub use types::{S3Object, S3Request, S3Upload};

/// The parts that the S3 server shares with the SQS server.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    /// Its account owns all buckets.
    pub(crate) names: Arc<Names>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) targets: Arc<Targets>,
    /// Names of initial buckets with their notification configurations. Other buckets keep theirs.
    pub(crate) notifications: Vec<(String, Configuration)>,
}

/// A request: its ids for events, its operation and faults, and what its operation adds to the error and to the recorded
/// request.
#[derive(Debug, Default)]
struct RequestContext {
    /// The header `x-amz-request-id` of the response; empty without HTTP.
    id: String,
    /// The AWS X-Ray trace header.
    trace_header: Option<String>,
    /// The number of resets before the request.
    resets: u64,
    /// Set once s3s has found the operation.
    info: OnceLock<RequestInfo>,
    /// Set once the operation is known.
    plan: OnceLock<Plan>,
    /// The rest of a body that was not read to its end.
    rest: Mutex<Option<Incoming>>,
    /// Notes for the recorded request.
    notes: Mutex<Vec<String>>,
    /// Elements of the error that the operation returns, such as `ArgumentName`.
    error_elements: Mutex<Vec<(String, String)>>,
    /// Whether the response is ready, or the caller gone.
    is_answered: AtomicBool,
}

/// Operation and resource of a request.
#[derive(Debug)]
struct RequestInfo {
    /// The name that AWS uses.
    operation: String,
    resource: Option<Resource>,
}

impl RequestContext {
    /// The context of an HTTP request; without HTTP, one with an empty id.
    fn of(extensions: &Extensions) -> Arc<Self> {
        extensions.get::<Arc<Self>>().cloned().unwrap_or_default()
    }

    /// The header `x-amz-id-2` of the response.
    fn host_id(&self) -> String {
        base64_simd::STANDARD.encode_to_string(&self.id)
    }
}
