//! Finds the action of a request, without decoding its input.

use http::Method;
use http::request::Parts;
use sqs_client::operation::{Action, Input};
use sqs_client::wire::protocol::{DecodeError, Detected, Form, Protocol};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// A request whose action is known.
pub(super) struct Call<'a> {
    pub(super) action: Action,
    body: &'a [u8],
    /// The input in the Query protocol; in AWS JSON, the body is the input.
    form: Option<Form<'a>>,
}

/// Why a request has no output.
#[derive(Debug)]
pub(super) enum Ended {
    /// Neither GET nor POST.
    MethodNotAllowed,
    /// The URL of a queue without an action, as opened in a browser.
    NoAction,
    Refused(ServiceError),
    /// A fault replaces the response, as if by a proxy.
    Foreign(u16, String),
    /// A fault breaks the connection.
    Lost,
}

impl From<ServiceError> for Ended {
    fn from(error: ServiceError) -> Self {
        Self::Refused(error)
    }
}

impl<'a> Call<'a> {
    /// Finds the action. `form` is the text of [`form_text`](crate::http::form_text).
    pub(super) fn read(
        detected: &Detected,
        head: &Parts,
        body: &'a [u8],
        form: &'a [u8],
    ) -> Result<Self, Ended> {
        if head.method != Method::POST && head.method != Method::GET {
            return Err(Ended::MethodNotAllowed);
        }
        let form = match detected {
            Detected::AwsJson(Ok(action)) => return Ok(Self { action: *action, body, form: None }),
            Detected::AwsJson(Err(_)) => return Err(ServiceError::bare(ErrorCode::UnknownOperation).into()),
            Detected::Query => Form::parse(form).map_err(|error| malformed(&error))?,
        };
        match form.action().ok_or(Ended::NoAction)? {
            Ok(Action::ListQueues | Action::CreateQueue) if head.uri.path() != "/" => {
                Err(invalid_action(&form).into())
            }
            Ok(action) => Ok(Self { action, body, form: Some(form) }),
            Err(_) => Err(invalid_action(&form).into()),
        }
    }

    /// A parameter of the form; AWS JSON has none.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.form.as_ref()?.get(name)
    }

    /// Decodes the input.
    pub(super) fn input<I: Input>(self) -> Result<I, ServiceError> {
        let input = match self.form {
            None => Protocol::AwsJson.decode_request(self.body),
            Some(form) => form.read(),
        };
        input.map_err(|error| malformed(&error))
    }
}

fn malformed(error: &DecodeError) -> ServiceError {
    ServiceError::new(ErrorCode::MalformedInput, error.to_string())
}

fn invalid_action(form: &Form<'_>) -> ServiceError {
    let action = form.get("Action").unwrap_or_default();
    ServiceError::new(
        ErrorCode::UnknownOperation,
        format!("The action {action} is not valid for this endpoint."),
    )
}
