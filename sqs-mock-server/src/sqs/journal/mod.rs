//! The journal of SQS for tests: typed requests, filters and expectations.

mod brief;
mod record;
mod requests;
mod times;

pub use record::{NotThisInput, RecordedRequest};
pub(crate) use requests::Latest;
pub use requests::Requests;
pub use times::Times;
