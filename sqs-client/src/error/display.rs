//! `Display` of an error: operation, code, message, then status, request id and attempts in parentheses.

use std::error::Error as _;
use std::fmt;

use super::{Cause, Context, Error};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Context { action, attempts, request_id, status, .. } = &self.0.context;
        if let Some(action) = action {
            write!(f, "{action}: ")?;
        }
        match &self.0.cause {
            Cause::Build(_) | Cause::Encode(_) => f.write_str("the input cannot be built")?,
            Cause::Invalid(error) => write!(f, "{error} (checked before sending)")?,
            Cause::Service(error) => write!(f, "{error}")?,
            Cause::Endpoint(error) => write!(f, "{error}")?,
            Cause::NoTransport => f.write_str(
                "no transport: enable the feature `reqwest` or `hyper`, or call transport(..) on the config builder",
            )?,
            Cause::NoTls => f.write_str(
                "no TLS for the https endpoint URL: enable the feature `rustls` or `aws-lc`, or use an http URL",
            )?,
            Cause::Sign(_) => f.write_str("the request cannot be signed")?,
            // The text of a `CredentialsError` only names its kind. The reason is in its source.
            Cause::Credentials(error) => match error.source() {
                Some(source) => write!(f, "no credentials: {source}")?,
                None => write!(f, "no credentials: {error}")?,
            },
            Cause::NoCredentials => f.write_str(
                "no credentials provider: use Builder::from_env(), which reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, \
                 profiles and metadata services, or call credentials_provider(..) on the config builder",
            )?,
            Cause::Transport(error) => write!(f, "{error}")?,
            Cause::AttemptTimeout(Some(limit)) => write!(f, "attempt timeout: no response within {limit:?}")?,
            Cause::AttemptTimeout(None) => f.write_str("attempt timeout: no response in time")?,
            Cause::OperationTimeout(limit) => write!(f, "operation timeout: not finished within {limit:?}")?,
            Cause::Unreadable(error) => write!(f, "the response is not from SQS: {error}")?,
            #[cfg(feature = "aws-sdk-sqs")]
            Cause::AwsSdk(_) => f.write_str("the AWS SDK failed before sending the request")?,
            Cause::Checksum(damaged) => {
                let mut separator = "";
                for mismatch in &damaged.mismatches {
                    write!(f, "{separator}{mismatch}")?;
                    separator = "; ";
                }
            }
        }
        let mut separator = " (";
        let mut note = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let result = write!(f, "{separator}{text}");
            separator = ", ";
            result
        };
        if let Some(status) = status {
            note(f, format_args!("status {status}"))?;
        }
        if let Some(request_id) = request_id {
            note(f, format_args!("request id {request_id}"))?;
        }
        if *attempts > 0 {
            note(f, format_args!("attempts {attempts}"))?;
        }
        if separator == ", " { f.write_str(")") } else { Ok(()) }
    }
}
