//! The journal of SQS for tests: typed requests, filters and expectations.

mod record;
mod requests;

pub use record::{NotThisInput, RecordedRequest};
pub(crate) use requests::Latest;
pub use requests::{Requests, Times};
