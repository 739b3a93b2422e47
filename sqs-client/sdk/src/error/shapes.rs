//! The errors of the service model: one struct each.

use std::error::Error as StdError;
use std::fmt;

use aws_smithy_types::error::metadata::{ErrorMetadata, ProvideErrorMetadata};
use aws_types::request_id::RequestId;

use super::Modelled;

macro_rules! modelled_errors {
    ($($name:ident)*) => { pastey::paste! {
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$( stringify!($name) ),*];

            $(
                #[doc = concat!("SQS returned the error `", stringify!($name), "`.")]
                ///
                /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html>
                #[derive(Clone, Debug, PartialEq)]
                #[non_exhaustive]
                pub struct $name {
                    /// The message of the service. AWS may change its text at any time.
                    pub message: Option<String>,
                    pub(crate) meta: ErrorMetadata,
                }

                impl $name {
                    /// The message of the service.
                    pub fn message(&self) -> Option<&str> {
                        self.message.as_deref()
                    }

                    /// A builder, for tests.
                    pub fn builder() -> builders::[<$name Builder>] {
                        builders::[<$name Builder>]::default()
                    }
                }

                impl fmt::Display for $name {
                    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        show(f, stringify!($name), self.message())
                    }
                }

                impl StdError for $name {}

                impl ProvideErrorMetadata for $name {
                    fn meta(&self) -> &ErrorMetadata {
                        &self.meta
                    }
                }

                impl RequestId for $name {
                    fn request_id(&self) -> Option<&str> {
                        self.meta.request_id()
                    }
                }

                impl Modelled for $name {}
            )*

            /// Builders of the errors.
            pub mod builders {
                use super::ErrorMetadata;

                $(
                    #[doc = concat!("Builds a [`", stringify!($name), "`](super::", stringify!($name), ").")]
                    #[derive(Clone, Debug, Default, PartialEq)]
                    #[non_exhaustive]
                    pub struct [<$name Builder>] {
                        message: Option<String>,
                        meta: Option<ErrorMetadata>,
                    }

                    impl [<$name Builder>] {
                        /// Sets the message.
                        pub fn message(mut self, message: impl Into<String>) -> Self {
                            self.message = Some(message.into());
                            self
                        }

                        /// Sets or clears the message.
                        pub fn set_message(mut self, message: Option<String>) -> Self {
                            self.message = message;
                            self
                        }

                        /// The message set so far.
                        pub fn get_message(&self) -> &Option<String> {
                            &self.message
                        }

                        /// Sets the metadata that `ProvideErrorMetadata` returns: code, message and request id.
                        pub fn meta(mut self, meta: ErrorMetadata) -> Self {
                            self.meta = Some(meta);
                            self
                        }

                        /// Sets or clears the metadata that `ProvideErrorMetadata` returns.
                        pub fn set_meta(&mut self, meta: Option<ErrorMetadata>) -> &mut Self {
                            self.meta = meta;
                            self
                        }

                        /// Builds the error.
                        pub fn build(self) -> super::$name {
                            super::$name { message: self.message, meta: self.meta.unwrap_or_default() }
                        }
                    }
                )*
            }
    } };
}

modelled_errors! {
    BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidAddress InvalidAttributeName
    InvalidAttributeValue InvalidBatchEntryId InvalidIdFormat InvalidMessageContents InvalidSecurity
    KmsAccessDenied KmsDisabled KmsInvalidKeyUsage KmsInvalidState KmsNotFound KmsOptInRequired KmsThrottled
    MessageNotInflight OverLimit PurgeQueueInProgress QueueDeletedRecently QueueDoesNotExist QueueNameExists
    ReceiptHandleIsInvalid RequestThrottled ResourceNotFoundException TooManyEntriesInBatchRequest
    UnsupportedOperation
}

/// Writes the name of the error and its message.
fn show(f: &mut fmt::Formatter<'_>, name: &str, message: Option<&str>) -> fmt::Result {
    match message {
        Some(message) => write!(f, "{name}: {message}"),
        None => f.write_str(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqs_client::error::ErrorCode;

    #[test]
    fn every_modelled_code_has_a_struct() {
        let is_modelled = |code: &&ErrorCode| code.type_name().starts_with("com.amazonaws.sqs#");
        let modelled: Vec<&str> = ErrorCode::ALL.iter().filter(is_modelled).map(ErrorCode::shape).collect();
        assert_eq!(NAMES, modelled);
    }

    #[test]
    fn text_begins_with_the_name() {
        let error = QueueDoesNotExist::builder().message("no such queue").build();
        assert_eq!(error.to_string(), "QueueDoesNotExist: no such queue");
        assert_eq!(OverLimit::builder().build().to_string(), "OverLimit");
    }
}
