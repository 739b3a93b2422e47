//! Errors that the service returns: the table of error codes and the error itself.
//!
//! [`Error::error_code`](crate::Error::error_code) returns an [`ErrorCode`]. Servers and fault injection create errors from one.
//!
//! ```
//! use sqs_client::wire::service_error::{ErrorCode, RetryClass};
//!
//! let code = ErrorCode::from_name("AWS.SimpleQueueService.NonExistentQueue"); // or "QueueDoesNotExist"
//! assert_eq!(code, ErrorCode::QueueDoesNotExist);
//! assert_eq!(ErrorCode::RequestThrottled.retry_class(), Some(RetryClass::Throttle));
//! ```
//!
//! A code has two names. The *shape* is the `__type` of AWS JSON. The *query code* is the `<Code>` of the Query protocol;
//! AWS JSON sends it in the header `x-amzn-query-error`. Sources: the `awsQueryError` traits of the public service model and
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html>.

use std::fmt;
use std::ops::Range;

/// Whether the sender or the service caused an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The request is invalid. The same request fails again.
    Sender,
    /// The service failed.
    Receiver,
}

impl Fault {
    /// The name on the wire: `Sender` or `Receiver`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sender => "Sender",
            Self::Receiver => "Receiver",
        }
    }
}

/// How a client handles an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetryClass {
    /// Do not retry: the same request fails again.
    Never,
    /// Too many requests: retry after a longer pause.
    Throttle,
    /// A transient failure of the service: retry.
    Transient,
    /// The service rejected the signature, possibly because the clock is wrong: correct the clock by the `Date` of the
    /// response and retry once.
    ClockSkew,
    /// The session token has expired: load newer credentials and retry once.
    ExpiredToken,
}

/// An error that the service returns: code and message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServiceError {
    /// The code.
    pub code: ErrorCode,
    /// The message, if there is one. AWS may change messages at any time, so match on the code.
    pub message: Option<String>,
}

impl ServiceError {
    /// Creates an error with a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }

    /// Creates an error without a message.
    pub const fn bare(code: ErrorCode) -> Self {
        Self { code, message: None }
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.code),
            None => write!(f, "{}", self.code),
        }
    }
}

impl std::error::Error for ServiceError {}

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
        ExpiredToken, "ExpiredTokenException", "ExpiredToken", 403, Sender, ExpiredToken;
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

/// Maximum characters of the error code that an error keeps.
const MAX_CODE: usize = 128;
/// Maximum characters of the message that an error keeps. The longest known message of SQS, about 1,500 characters, quotes
/// the canonical request.
const MAX_MESSAGE: usize = 2_000;

impl ServiceError {
    /// Truncates code and message and removes the session token, which SQS quotes when it rejects a signature.
    pub(crate) fn sanitized(self) -> Self {
        let code = match self.code {
            ErrorCode::Other(code) => ErrorCode::Other(truncated(code, MAX_CODE)),
            known => known,
        };
        let text = |text: String| truncated(without_session_tokens(&text), MAX_MESSAGE);
        Self { code, message: self.message.map(text) }
    }
}

fn truncated(mut text: String, max: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(max) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The text without session tokens. Services quote the canonical request when they reject a signature, and proxies quote
/// headers and query strings.
pub(crate) fn without_session_tokens(text: &str) -> String {
    const NAME: &str = "x-amz-security-token";
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut from) = (String::new(), 0);
    for (start, _) in lower.match_indices(NAME) {
        let after = start + NAME.len();
        if start < from {
            continue;
        }
        let Some(token) = token_in(&text[after..]) else { continue };
        shown.push_str(&text[from..after + token.start]);
        shown.push_str("[redacted]");
        from = after + token.end;
    }
    shown.push_str(&text[from..]);
    shown
}

/// Where the token is in the text after its name: after a separator, or else the next long word, whatever markup is between.
fn token_in(text: &str) -> Option<Range<usize>> {
    /// Real tokens have hundreds of characters.
    const LONG: usize = 16;
    /// `&quot;,&quot;value&quot;:&quot;`, and some more.
    const MARKUP: usize = 64;
    let is_between = |c: char| matches!(c, ':' | '=' | ',' | ' ' | '\t' | '"' | '\'' | '\\');
    let is_of_token =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '%' | '_' | '-' | '.');
    let ends = |c: char| c.is_whitespace() || matches!(c, '\\' | '\'' | '"' | '&' | '<' | ',' | ';');
    let end = |start: usize, ends: &dyn Fn(char) -> bool| {
        text[start..].find(ends).map_or(text.len(), |end| start + end)
    };
    // A name in a list of headers.
    if text.starts_with([';', '\n']) || text.starts_with("\\n") {
        return None;
    }
    let start = text.len() - text.trim_start_matches(is_between).len();
    let next = Some(start..end(start, &ends)).filter(|next| !next.is_empty());
    if text[..start].contains([':', '=']) {
        return next;
    }
    let starts = text.char_indices().take_while(|(at, _)| *at < MARKUP).map(|(at, _)| at);
    let mut words = starts.map(|start| start..end(start, &|c| !is_of_token(c)));
    words.find(|word| word.len() >= LONG).or(next.filter(|_| text[..start].contains(',')))
}

#[cfg(test)]
mod code_tests {
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

#[cfg(test)]
mod sanitize_tests {
    use super::*;

    fn sanitized_error(code: &str, text: &str) -> ServiceError {
        ServiceError::new(ErrorCode::from_name(code), text).sanitized()
    }

    #[test]
    fn long_codes_and_messages_are_truncated() {
        let error = sanitized_error(&"C".repeat(1_000_000), &"ü".repeat(1_000_000));
        assert_eq!(error.code, ErrorCode::Other("C".repeat(MAX_CODE) + "…"));
        assert_eq!(error.message, Some("ü".repeat(MAX_MESSAGE) + "…"));
    }

    #[test]
    fn session_tokens_in_messages_are_redacted() {
        let nested = sanitized_error("SignatureDoesNotMatch", &"x-amz-security-token:".repeat(3));
        assert_eq!(nested.message.as_deref(), Some("x-amz-security-token:[redacted]"));
        let text = "host:h\nX-Amz-Security-Token:SECRET/+=\nx-amz-date:1 x-amz-security-token:SECRET\\nrest";
        let message = sanitized_error("SignatureDoesNotMatch", text).message.expect("kept");
        assert_eq!(
            message,
            "host:h\nX-Amz-Security-Token:[redacted]\nx-amz-date:1 x-amz-security-token:[redacted]\\nrest"
        );
        for (text, expected) in [
            (r#"{"X-Amz-Security-Token": "SECRET"}"#, r#"{"X-Amz-Security-Token": "[redacted]"}"#),
            ("/?X-Amz-Security-Token=SECRET%2F&a=b", "/?X-Amz-Security-Token=[redacted]&a=b"),
            ("<p>x-amz-security-token: SECRET</p>", "<p>x-amz-security-token: [redacted]</p>"),
            (r#"\"X-Amz-Security-Token\": \"SECRET\""#, r#"\"X-Amz-Security-Token\": \"[redacted]\""#),
            ("x-amz-security-token:\tSECRET", "x-amz-security-token:\t[redacted]"),
            (r#"["x-amz-security-token","SECRET"]"#, r#"["x-amz-security-token","[redacted]"]"#),
            ("x-amz-security-token", "x-amz-security-token"),
            ("host;x-amz-security-token;x-amz-target\nhash", "host;x-amz-security-token;x-amz-target\nhash"),
        ] {
            assert_eq!(without_session_tokens(text), expected);
        }
        let token = "FwoGZXIvYXdzEBYaD0123456789";
        for text in [
            format!(r#"{{"name":"X-Amz-Security-Token","value":"{token}"}}"#),
            format!("X-Amz-Security-Token&quot;:&quot;{token}&quot;"),
            format!("x-amz-security-token%3D{token}"),
            format!("<th>x-amz-security-token</th><td>{token}</td>"),
        ] {
            assert!(!without_session_tokens(&text).contains(token), "{text}");
        }
    }
}
