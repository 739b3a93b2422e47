//! [`SdkError`] with the error of the operation, and the traits to inspect both.
//!
//! If there is no error response from SQS, the source of the `SdkError` is a [`crate::Error`]. It has the number of attempts
//! and tells whether SQS may have executed the request.

#[macro_use]
mod variants;
mod any;
mod convert;
mod shape;
mod typed;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;

pub use any::Error;
pub use aws_smithy_runtime_api::box_error::BoxError;
pub use aws_smithy_runtime_api::client::result::ConnectorError;
pub use aws_smithy_types::error::display::DisplayErrorContext;
pub use aws_smithy_types::error::metadata::{ErrorMetadata, ProvideErrorMetadata};
pub use aws_smithy_types::error::operation::BuildError;

pub use crate::types::UnknownVariantError;
pub(super) use convert::sdk_error;
pub use typed::TypedOperation;
pub(super) use variants::Modelled;
pub use variants::{TypedError, Unhandled};

/// The error of a call. `E` is the error of the operation, `R` the raw response.
pub type SdkError<E, R = HttpResponse> = aws_smithy_runtime_api::client::result::SdkError<E, R>;

/// The structs in [`types::error`](crate::sdk::types::error).
pub(super) mod shapes {
    pub use super::shape::shapes::*;
}

/// The errors that the modules of [`operation`](crate::sdk::operation) export.
pub(super) mod operations {
    pub use super::typed::*;
}
