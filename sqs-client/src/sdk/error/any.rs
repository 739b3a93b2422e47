//! One error enum for all operations.

use std::error::Error as StdError;
use std::fmt;

use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::error::operation::BuildError;

use super::SdkError;

error_enum! {
    /// The errors of all operations in one enum, for functions with several calls: `?` converts into it.
    Error:
    BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidAddress InvalidAttributeName
    InvalidAttributeValue InvalidBatchEntryId InvalidIdFormat InvalidMessageContents InvalidSecurity
    KmsAccessDenied KmsDisabled KmsInvalidKeyUsage KmsInvalidState KmsNotFound KmsOptInRequired KmsThrottled
    MessageNotInflight OverLimit PurgeQueueInProgress QueueDeletedRecently QueueDoesNotExist QueueNameExists
    ReceiptHandleIsInvalid RequestThrottled ResourceNotFoundException TooManyEntriesInBatchRequest
    UnsupportedOperation
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.part() {
            Ok(error) => error.source(),
            Err(error) => Some(&*error.source),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::new_unhandled(error.into(), aws_smithy_types::error::ErrorMetadata::default())
    }
}

impl<E, R> From<SdkError<E, R>> for Error
where
    E: StdError + ProvideErrorMetadata + Into<Self> + Send + Sync + 'static,
    R: fmt::Debug + Send + Sync + 'static,
{
    fn from(error: SdkError<E, R>) -> Self {
        match error {
            SdkError::ServiceError(answer) => answer.into_err().into(),
            other => {
                let meta = other.meta().clone();
                Self::new_unhandled(other.into(), meta)
            }
        }
    }
}
