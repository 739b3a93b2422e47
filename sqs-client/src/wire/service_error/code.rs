//! The table of error codes.

use std::fmt;

use super::{Fault, RetryClass};

/// The columns of the table for one code.
struct Row {
    shape: &'static str,
    query: &'static str,
    status: u16,
    fault: Fault,
    retry: RetryClass,
    modelled: bool,
}

macro_rules! codes {
    (
        modelled { $( $(#[$mm:meta])* $m:ident, $mquery:literal, $mstatus:literal, $mretry:ident; )* }
        generic { $( $(#[$gm:meta])* $g:ident, $gshape:literal, $gquery:literal, $gstatus:literal, $gfault:ident, $gretry:ident; )* }
    ) => {
        /// An error code of the service. Unknown codes are kept as text.
        #[derive(Clone, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $( $(#[$mm])* $m, )*
            $( $(#[$gm])* $g, )*
            /// A code that this version does not know.
            Other(String),
        }

        impl ErrorCode {
            /// All codes that this version knows.
            pub const ALL: &'static [Self] = &[ $( Self::$m, )* $( Self::$g, )* ];

            const fn row(&self) -> Option<Row> {
                Some(match self {
                    $( Self::$m => Row {
                        shape: stringify!($m), query: $mquery, status: $mstatus,
                        fault: Fault::Sender, retry: RetryClass::$mretry, modelled: true,
                    }, )*
                    $( Self::$g => Row {
                        shape: $gshape, query: $gquery, status: $gstatus,
                        fault: Fault::$gfault, retry: RetryClass::$gretry, modelled: false,
                    }, )*
                    Self::Other(_) => return None,
                })
            }

            /// Finds a code by its shape name or its query code. No name is in both sets with different meanings.
            pub fn from_name(name: &str) -> Self {
                match name {
                    $( stringify!($m) => Self::$m, )*
                    $( $gshape => Self::$g, )*
                    other => match other {
                        $( $mquery => Self::$m, )*
                        $( $gquery => Self::$g, )*
                        other => Self::Other(other.to_owned()),
                    },
                }
            }
        }
    };
}

codes! {
    modelled {
        /// Two entries of a batch have the same id.
        BatchEntryIdsNotDistinct, "AWS.SimpleQueueService.BatchEntryIdsNotDistinct", 400, Never;
        /// The total size of a batch is too large.
        BatchRequestTooLong, "AWS.SimpleQueueService.BatchRequestTooLong", 400, Never;
        /// A batch has no entries.
        EmptyBatchRequest, "AWS.SimpleQueueService.EmptyBatchRequest", 400, Never;
        /// The specified id is invalid.
        InvalidAddress, "InvalidAddress", 404, Never;
        /// An attribute is unknown or not allowed here.
        InvalidAttributeName, "InvalidAttributeName", 400, Never;
        /// The value of an attribute is out of range.
        InvalidAttributeValue, "InvalidAttributeValue", 400, Never;
        /// The id of a batch entry has invalid characters or an invalid length.
        InvalidBatchEntryId, "AWS.SimpleQueueService.InvalidBatchEntryId", 400, Never;
        /// Deprecated by AWS for `ReceiptHandleIsInvalid`.
        InvalidIdFormat, "InvalidIdFormat", 400, Never;
        /// A message contains characters that XML does not allow.
        InvalidMessageContents, "InvalidMessageContents", 400, Never;
        /// The request was not made over HTTPS or not signed with SigV4.
        InvalidSecurity, "InvalidSecurity", 403, Never;
        /// The caller may not use the KMS key.
        KmsAccessDenied, "KMS.AccessDeniedException", 400, Never;
        /// The KMS key is disabled.
        KmsDisabled, "KMS.DisabledException", 400, Never;
        /// The KMS key has the wrong usage.
        KmsInvalidKeyUsage, "KMS.InvalidKeyUsageException", 400, Never;
        /// The KMS key is in the wrong state.
        KmsInvalidState, "KMS.InvalidStateException", 400, Never;
        /// The KMS key does not exist.
        KmsNotFound, "KMS.NotFoundException", 400, Never;
        /// The account has not opted in to KMS.
        KmsOptInRequired, "KMS.OptInRequired", 403, Never;
        /// KMS throttles the service.
        KmsThrottled, "KMS.ThrottlingException", 400, Throttle;
        /// The message is not in flight.
        MessageNotInflight, "AWS.SimpleQueueService.MessageNotInflight", 400, Never;
        /// Too many messages in flight, or too many actions in a permission.
        OverLimit, "OverLimit", 403, Never;
        /// A purge ran less than 60 seconds ago.
        PurgeQueueInProgress, "AWS.SimpleQueueService.PurgeQueueInProgress", 403, Never;
        /// A queue of this name was deleted less than 60 seconds ago.
        QueueDeletedRecently, "AWS.SimpleQueueService.QueueDeletedRecently", 400, Never;
        /// The queue does not exist.
        QueueDoesNotExist, "AWS.SimpleQueueService.NonExistentQueue", 400, Never;
        /// A queue of this name exists with other attributes.
        QueueNameExists, "QueueAlreadyExists", 400, Never;
        /// The receipt handle is invalid.
        ReceiptHandleIsInvalid, "ReceiptHandleIsInvalid", 404, Never;
        /// Too many requests.
        RequestThrottled, "RequestThrottled", 403, Throttle;
        /// A resource named in the request does not exist.
        ResourceNotFoundException, "ResourceNotFoundException", 404, Never;
        /// A batch has more than ten entries.
        TooManyEntriesInBatchRequest, "AWS.SimpleQueueService.TooManyEntriesInBatchRequest", 400, Never;
        /// The operation is not supported.
        UnsupportedOperation, "AWS.SimpleQueueService.UnsupportedOperation", 400, Never;
    }
    generic {
        /// The value of a parameter is invalid.
        InvalidParameterValue, "InvalidParameterValueException", "InvalidParameterValue", 400, Sender, Never;
        /// A required parameter is missing.
        MissingParameter, "MissingRequiredParameterException", "MissingParameter", 400, Sender, Never;
        /// The action is unknown.
        UnknownOperation, "UnknownOperationException", "InvalidAction", 400, Sender, Never;
        /// The request cannot be parsed.
        MalformedInput, "SerializationException", "MalformedInput", 400, Sender, Never;
        /// The caller is not authorized.
        AccessDenied, "AccessDeniedException", "AccessDenied", 403, Sender, Never;
        /// The access key is unknown.
        InvalidClientTokenId, "UnrecognizedClientException", "InvalidClientTokenId", 403, Sender, Never;
        /// The signature is wrong, or the caller's clock is.
        SignatureDoesNotMatch, "InvalidSignatureException", "SignatureDoesNotMatch", 403, Sender, ClockSkew;
        /// The signature header is malformed.
        IncompleteSignature, "IncompleteSignatureException", "IncompleteSignature", 400, Sender, Never;
        /// The request is not signed.
        MissingAuthenticationToken, "MissingAuthenticationTokenException", "MissingAuthenticationToken", 403, Sender, Never;
        /// The signature has expired.
        RequestExpired, "RequestExpiredException", "RequestExpired", 400, Sender, ClockSkew;
        /// The difference between the caller's clock and the server's is too large.
        RequestTimeTooSkewed, "RequestTimeTooSkewedException", "RequestTimeTooSkewed", 403, Sender, ClockSkew;
        /// The caller's clock is ahead.
        RequestInTheFuture, "RequestInTheFutureException", "RequestInTheFuture", 403, Sender, ClockSkew;
        /// An earlier request is still in progress.
        PriorRequestNotComplete, "PriorRequestNotCompleteException", "PriorRequestNotComplete", 400, Sender, Throttle;
        /// The session token has expired.
        ExpiredToken, "ExpiredTokenException", "ExpiredToken", 403, Sender, Never;
        /// Too many requests.
        Throttling, "ThrottlingException", "Throttling", 400, Sender, Throttle;
        /// The service had an internal error.
        InternalFailure, "InternalFailureException", "InternalFailure", 500, Receiver, Transient;
        /// The service had an internal error.
        InternalError, "InternalErrorException", "InternalError", 500, Receiver, Transient;
        /// The service is overloaded or unavailable.
        ServiceUnavailable, "ServiceUnavailableException", "ServiceUnavailable", 503, Receiver, Transient;
        /// The service did not receive the whole request in time.
        RequestTimeout, "RequestTimeoutException", "RequestTimeout", 400, Sender, Transient;
    }
}

impl ErrorCode {
    /// The name in AWS JSON, such as `QueueDoesNotExist`.
    pub fn shape(&self) -> &str {
        match (self, self.row()) {
            (Self::Other(name), _) => name,
            (_, row) => row.map_or("", |row| row.shape),
        }
    }

    /// The name in the Query protocol, such as `AWS.SimpleQueueService.NonExistentQueue`.
    pub fn query_code(&self) -> &str {
        match (self, self.row()) {
            (Self::Other(name), _) => name,
            (_, row) => row.map_or("", |row| row.query),
        }
    }

    /// The full `__type` of AWS JSON. Errors of the service model have the namespace of SQS, others have Coral's.
    pub fn type_name(&self) -> String {
        let namespace = match self.row() {
            Some(row) if !row.modelled => "com.amazon.coral.service",
            _ => "com.amazonaws.sqs",
        };
        format!("{namespace}#{}", self.shape())
    }

    /// HTTP status of the response. 400 for unknown codes.
    pub fn status(&self) -> u16 {
        self.row().map_or(400, |row| row.status)
    }

    /// Who caused the error. The sender for unknown codes.
    pub fn fault(&self) -> Fault {
        self.row().map_or(Fault::Sender, |row| row.fault)
    }

    /// How a client handles the error. `None` for unknown codes.
    ///
    /// The code decides, not the HTTP status: `RequestThrottled` has status 403 and `ThrottlingException` 400.
    pub fn retry_class(&self) -> Option<RetryClass> {
        match self {
            Self::Other(name) => retry_class_of_unknown(name),
            known => known.row().map(|row| row.retry),
        }
    }
}

/// Other AWS services and SQS-compatible services use these codes for throttling.
fn retry_class_of_unknown(name: &str) -> Option<RetryClass> {
    const THROTTLES: [&str; 9] = [
        "ThrottledException",
        "RequestThrottledException",
        "TooManyRequestsException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "BandwidthLimitExceeded",
        "LimitExceededException",
        "SlowDown",
        "EC2ThrottledException",
    ];
    THROTTLES.contains(&name).then_some(RetryClass::Throttle)
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.query_code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_query_code_give_the_same_code() {
        for code in ErrorCode::ALL {
            assert_eq!(&ErrorCode::from_name(code.shape()), code);
            assert_eq!(&ErrorCode::from_name(code.query_code()), code);
        }
    }

    #[test]
    fn statuses_are_those_of_the_service_model() {
        assert_eq!(ErrorCode::ReceiptHandleIsInvalid.status(), 404);
        assert_eq!(ErrorCode::PurgeQueueInProgress.status(), 403);
        assert_eq!(ErrorCode::RequestThrottled.status(), 403);
        assert_eq!(ErrorCode::Throttling.status(), 400);
    }

    #[test]
    fn throttling_codes_have_retry_class_throttle() {
        for name in ["RequestThrottled", "ThrottlingException", "KMS.ThrottlingException", "SlowDown"] {
            assert_eq!(ErrorCode::from_name(name).retry_class(), Some(RetryClass::Throttle), "{name}");
        }
        assert_eq!(ErrorCode::OverLimit.retry_class(), Some(RetryClass::Never));
        assert_eq!(ErrorCode::from_name("UnknownCode").retry_class(), None);
    }
}
