//! Enums over the errors of the service model.

use std::error::Error as StdError;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_types::error::metadata::{ErrorMetadata, ProvideErrorMetadata};

use crate::wire::service_error::ErrorCode;

/// An error without its own type. Call `code()` and `message()` on the enum that contains it.
#[derive(Debug)]
pub struct Unhandled {
    pub(crate) source: BoxError,
    pub(crate) meta: ErrorMetadata,
}

/// The properties of a modelled error that the enums use.
pub(crate) trait Modelled: StdError + ProvideErrorMetadata + 'static {}

/// Creates the error of an operation from an error response.
pub trait TypedError: StdError + Send + Sync + 'static {
    /// The variant for `code`, or the unhandled variant if the service model does not list the code for the operation.
    #[doc(hidden)]
    fn from_answer(code: &ErrorCode, meta: ErrorMetadata) -> Self;

    /// The unhandled variant.
    #[doc(hidden)]
    fn from_unhandled(source: BoxError, meta: ErrorMetadata) -> Self;
}

/// Declares an enum over modelled errors. `part` returns the struct of the variant, or the unhandled error.
macro_rules! error_enum {
    ($(#[$meta:meta])* $name:ident: $($shape:ident)*) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum $name {
            $(
                #[doc = concat!("SQS returned the error `", stringify!($shape), "`.")]
                $shape(crate::sdk::error::shapes::$shape),
            )*
            /// Any other error. Match it with a wildcard and call `code()`: a later version may add a variant for it.
            #[deprecated(note = "match with a wildcard and call `code()` on the error")]
            Unhandled(crate::sdk::error::Unhandled),
        }

        impl $name {
            #[allow(deprecated, reason = "the only place that reads it")]
            fn part(&self) -> Result<&dyn crate::sdk::error::Modelled, &crate::sdk::error::Unhandled> {
                match self {
                    $( Self::$shape(error) => Ok(error), )*
                    Self::Unhandled(error) => Err(error),
                }
            }

            #[allow(deprecated, reason = "the only place that creates it")]
            fn new_unhandled(
                source: aws_smithy_runtime_api::box_error::BoxError,
                meta: aws_smithy_types::error::metadata::ErrorMetadata,
            ) -> Self {
                Self::Unhandled(crate::sdk::error::Unhandled { source, meta })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.part() {
                    Ok(error) => write!(f, "{error}"),
                    Err(error) => match error.meta.code() {
                        Some(code) => write!(f, "unhandled error ({code})"),
                        None => f.write_str("unhandled error"),
                    },
                }
            }
        }

        impl aws_smithy_types::error::metadata::ProvideErrorMetadata for $name {
            fn meta(&self) -> &aws_smithy_types::error::metadata::ErrorMetadata {
                match self.part() {
                    Ok(error) => error.meta(),
                    Err(error) => &error.meta,
                }
            }
        }

        impl aws_types::request_id::RequestId for $name {
            fn request_id(&self) -> Option<&str> {
                aws_smithy_types::error::metadata::ProvideErrorMetadata::meta(self).request_id()
            }
        }
    };
}
