//! The error table of the contract (section 3.3). It is repeated here, so that expected codes come from
//! the contract and not from the crate under test.

/// One error in both protocols.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Code {
    pub(super) namespace: &'static str,
    pub(super) shape: &'static str,
    pub(super) query: &'static str,
    pub(super) status: u16,
}

const fn modelled(shape: &'static str, query: &'static str, status: u16) -> Code {
    Code { namespace: "com.amazonaws.sqs", shape, query, status }
}

const fn generic(shape: &'static str, query: &'static str, status: u16) -> Code {
    Code { namespace: "com.amazon.coral.service", shape, query, status }
}

macro_rules! simple {
    ($name:ident) => {
        concat!("AWS.SimpleQueueService.", stringify!($name))
    };
}

pub(super) const IDS_NOT_DISTINCT: Code =
    modelled("BatchEntryIdsNotDistinct", simple!(BatchEntryIdsNotDistinct), 400);
pub(super) const BATCH_TOO_LONG: Code = modelled("BatchRequestTooLong", simple!(BatchRequestTooLong), 400);
pub(super) const EMPTY_BATCH: Code = modelled("EmptyBatchRequest", simple!(EmptyBatchRequest), 400);
pub(super) const INVALID_BATCH_ID: Code = modelled("InvalidBatchEntryId", simple!(InvalidBatchEntryId), 400);
pub(super) const TOO_MANY_ENTRIES: Code =
    modelled("TooManyEntriesInBatchRequest", simple!(TooManyEntriesInBatchRequest), 400);
pub(super) const PURGE_IN_PROGRESS: Code =
    modelled("PurgeQueueInProgress", simple!(PurgeQueueInProgress), 403);
pub(super) const DELETED_RECENTLY: Code =
    modelled("QueueDeletedRecently", simple!(QueueDeletedRecently), 400);
pub(super) const UNSUPPORTED: Code = modelled("UnsupportedOperation", simple!(UnsupportedOperation), 400);
pub(super) const NO_QUEUE: Code = modelled("QueueDoesNotExist", simple!(NonExistentQueue), 400);
pub(super) const QUEUE_EXISTS: Code = modelled("QueueNameExists", "QueueAlreadyExists", 400);
pub(super) const OVER_LIMIT: Code = modelled("OverLimit", "OverLimit", 403);
pub(super) const REQUEST_THROTTLED: Code = modelled("RequestThrottled", "RequestThrottled", 403);
pub(super) const BAD_HANDLE: Code = modelled("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404);
pub(super) const NO_RESOURCE: Code = modelled("ResourceNotFoundException", "ResourceNotFoundException", 404);
pub(super) const ATTRIBUTE_NAME: Code = modelled("InvalidAttributeName", "InvalidAttributeName", 400);
pub(super) const ATTRIBUTE_VALUE: Code = modelled("InvalidAttributeValue", "InvalidAttributeValue", 400);
pub(super) const CONTENTS: Code = modelled("InvalidMessageContents", "InvalidMessageContents", 400);
pub(super) const PARAMETER: Code = generic("InvalidParameterValueException", "InvalidParameterValue", 400);
pub(super) const MISSING: Code = generic("MissingRequiredParameterException", "MissingParameter", 400);
pub(super) const ACTION: Code = generic("UnknownOperationException", "InvalidAction", 400);
pub(super) const MALFORMED: Code = generic("SerializationException", "MalformedInput", 400);
pub(super) const DENIED: Code = generic("AccessDeniedException", "AccessDenied", 403);
pub(super) const UNKNOWN_KEY: Code = generic("UnrecognizedClientException", "InvalidClientTokenId", 403);
pub(super) const SIGNATURE: Code = generic("InvalidSignatureException", "SignatureDoesNotMatch", 403);
pub(super) const INCOMPLETE: Code = generic("IncompleteSignatureException", "IncompleteSignature", 400);
