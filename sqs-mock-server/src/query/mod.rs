//! The Query protocol of services that have no other: forms in, XML out. SQS has its own front, since it also speaks AWS
//! JSON, and its lists have other names.
//!
//! ```text
//! request -> front: form -> action -> signature -> faults -> api (a service) -> output -> XML
//! ```

mod api;
mod form;
mod front;
mod journal;
mod xml;

pub(crate) use api::{Access, Action, Api, Call, Origin, Output};
pub(crate) use form::{Form, missing};
pub(crate) use front::Front;
pub use journal::QueryRequest;
pub(crate) use xml::Xml;
