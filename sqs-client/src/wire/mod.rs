//! The parts that clients and servers share: shapes, limits, rules, checksums, error codes, protocols and signatures.
//!
//! For servers, proxies, test doubles, and layers over a client; a [`Client`](crate::Client) uses all of it by itself.
//! sqs-mock-server decodes requests with the same tables with which this client encodes them.
//!
//! | Module | Contents |
//! |---|---|
//! | [`checksum`] | MD5 of bodies and attributes; sizes of messages |
//! | [`limits`] | quotas and limits from the SQS documentation |
//! | [`protocol`] | AWS JSON and Query/XML, both directions |
//! | [`service_error`] | the table of error codes |
//! | [`sign`] | Signature Version 4: sign and verify |
//! | [`validate`] | the rules for inputs, with the error texts of SQS |

pub mod checksum;
mod hex;
pub mod limits;
pub(crate) mod model;
pub mod protocol;
pub mod service_error;
pub mod sign;
pub mod types;
pub mod validate;
