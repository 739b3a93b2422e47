"""The errors of SQS and SNS."""

from wire import Code


def prefixed(shape, status=400):
    return Code(shape, f"AWS.SimpleQueueService.{shape}", status)


def same(shape, status=400):
    return Code(shape, shape, status)


IDS_NOT_DISTINCT = prefixed("BatchEntryIdsNotDistinct")
BATCH_TOO_LONG = prefixed("BatchRequestTooLong")
EMPTY_BATCH = prefixed("EmptyBatchRequest")
INVALID_BATCH_ID = prefixed("InvalidBatchEntryId")
TOO_MANY_ENTRIES = prefixed("TooManyEntriesInBatchRequest")
PURGE_IN_PROGRESS = prefixed("PurgeQueueInProgress", 403)
DELETED_RECENTLY = prefixed("QueueDeletedRecently")
UNSUPPORTED = prefixed("UnsupportedOperation")
NO_QUEUE = Code("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", 400)
QUEUE_EXISTS = Code("QueueNameExists", "QueueAlreadyExists", 400)
OVER_LIMIT = same("OverLimit", 403)
BAD_HANDLE = same("ReceiptHandleIsInvalid", 404)
NO_RESOURCE = same("ResourceNotFoundException", 404)
ATTRIBUTE_NAME = same("InvalidAttributeName")
ATTRIBUTE_VALUE = same("InvalidAttributeValue")
CONTENTS = same("InvalidMessageContents")
PARAMETER = Code("InvalidParameterValueException", "InvalidParameterValue", 400)
MISSING = Code("MissingRequiredParameterException", "MissingParameter", 400)
ACTION = Code("UnknownOperationException", "InvalidAction", 400)
MALFORMED = Code("SerializationException", "MalformedInput", 400)
# The rule is documented, but no source says the code.
ANY = None

SNS_PARAMETER = same("InvalidParameter")
SNS_NOT_FOUND = same("NotFound", 404)
